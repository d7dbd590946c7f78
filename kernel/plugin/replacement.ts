import { conflict, isGatewayError } from '../errors.ts'
import type { Generation } from './generation.ts'
import { explain } from './manifest.ts'
import type { Plugin } from './plugin-record.ts'
import { missingOf, refuseIfNeeded } from './requirements.ts'
import type { Roster } from './roster.ts'
import { type SetupParts, settingsOf, setUp } from './setup.ts'

/**
 * Puts a plugin with other code, and its bindings, in the place of what has its id. When they cannot run and the old one
 * does, the old one stays and a conflict says why; when nothing ran, the new one is taken with its problem.
 */
export async function replace(
  roster: Roster,
  parts: SetupParts,
  [next, ...bindings]: readonly Plugin[],
): Promise<void> {
  if (!next) return
  const old = roster.plugins.get(next.id)
  const replaced = [...roster.plugins.values()].filter(
    ({ id, binding }) => id === next.id || binding?.module === next.id,
  )
  const exchange = (from: readonly Plugin[], to: readonly Plugin[]): void => {
    for (const { id } of from) roster.plugins.delete(id)
    for (const plugin of to) roster.plugins.set(plugin.id, plugin)
  }
  const all = [next, ...bindings]
  let generation: Generation | undefined
  try {
    for (const one of all) await begin(roster, parts, one)
    exchange(replaced, all)
    generation = roster.arranged()
  } catch (error) {
    for (const one of all) {
      await one.instance?.scope.dispose()
      one.instance = undefined
    }
    next.problem = explain(error)
    if (old?.instance) {
      exchange(all, replaced)
      next.release?.()
      old.problem = next.problem
      throw isGatewayError(error)
        ? error
        : conflict(`${next.id} goes on with the version it has: ${next.problem}`, { cause: error })
    }
    exchange(replaced, all)
    generation = roster.arranged()
  }
  roster.swap(generation)
  old?.release?.()
}

async function begin(roster: Roster, parts: SetupParts, next: Plugin): Promise<void> {
  const old = roster.plugins.get(next.id)
  if (!next.manifest || next.found.problem) throw new Error(next.found.problem ?? 'it has no manifest')
  if (!next.setting?.enabled) {
    if (old?.instance) refuseIfNeeded(old, roster.plugins.values())
    return
  }
  const missing = missingOf(next, roster.plugins)
  if (missing.length > 0) {
    if (old?.instance) throw new Error(`it needs ${missing.join(', ')}`)
    await settingsOf(next, parts.isolation)
    next.problem = `waits for ${missing.join(', ')}`
    return
  }
  next.instance = await setUp(next, parts)
}

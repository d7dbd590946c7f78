import { conflict, isGatewayError } from './errors.ts'
import type { Generation } from './generation.ts'
import type { ContextParts } from './instance.ts'
import { explain } from './manifest.ts'
import type { Plugin } from './plugin-record.ts'
import { missingOf, refuseIfNeeded } from './requirements.ts'
import type { Roster } from './roster.ts'
import { settingsOf, setUp } from './setup.ts'

/**
 * Puts a plugin with other code in the place of what has its id. When the new one cannot run and the old one does, the
 * old one stays and a conflict says why; when nothing ran, the new one is taken with its problem.
 */
export async function replace(roster: Roster, parts: ContextParts, next: Plugin): Promise<void> {
  const old = roster.plugins.get(next.id)
  let generation: Generation | undefined
  try {
    await begin(roster, parts, next)
    roster.plugins.set(next.id, next)
    generation = roster.arranged()
  } catch (error) {
    await next.instance?.scope.dispose()
    next.instance = undefined
    next.problem = explain(error)
    if (old?.instance) {
      roster.plugins.set(next.id, old)
      next.release?.()
      old.problem = next.problem
      throw isGatewayError(error)
        ? error
        : conflict(`${next.id} goes on with the version it has: ${next.problem}`, { cause: error })
    }
    roster.plugins.set(next.id, next)
    generation = roster.arranged()
  }
  roster.swap(generation)
  old?.release?.()
}

async function begin(roster: Roster, parts: ContextParts, next: Plugin): Promise<void> {
  const old = roster.plugins.get(next.id)
  if (!next.manifest || next.found.problem) throw new Error(next.found.problem ?? 'it has no manifest')
  if (!next.setting?.enabled) {
    if (old?.instance) refuseIfNeeded(old, roster.plugins.values())
    return
  }
  const missing = missingOf(next, roster.plugins)
  if (missing.length > 0) {
    if (old?.instance) throw new Error(`it needs ${missing.join(', ')}`)
    await settingsOf(next)
    next.problem = `waits for ${missing.join(', ')}`
    return
  }
  next.instance = await setUp(next, parts)
}

import { isDeepStrictEqual } from 'node:util'
import { ConfigError } from '../config.ts'
import { conflict, isGatewayError } from '../errors.ts'
import { type Generation, offersOf } from './generation.ts'
import { type Actor, refuseLockout } from './lockout.ts'
import { explain } from './manifest.ts'
import type { Plugin } from './plugin-record.ts'
import { missingOf } from './requirements.ts'
import type { Roster } from './roster.ts'
import type { Setting } from './setting.ts'
import { type SetupParts, settingsOf, setUp } from './setup.ts'

/** What is to become of one plugin or binding. */
export interface Wanted {
  readonly plugin: Plugin
  readonly setting: Setting
  /** Whether it gets a new instance also if it has one. */
  readonly renew: boolean
}

/** What a change is made with. */
export interface Doing {
  readonly roster: Roster
  readonly parts: SetupParts
  readonly actor: Actor | undefined
  /** Writes the change down; what it rejects with undoes everything. */
  readonly store: () => Promise<unknown>
}

/**
 * Puts plugins into new settings together. Resolves when the change is written down and every new call runs on it; when
 * it rejects, nothing has changed and what ran before still runs.
 */
export async function carryOut(wanted: readonly Wanted[], doing: Doing): Promise<void> {
  const { roster, parts, actor, store } = doing
  const before = wanted.map(({ plugin }) => ({ plugin, setting: plugin.setting, instance: plugin.instance }))
  const problems = new Map<Plugin, string | undefined>()
  let at = wanted[0]?.plugin
  let next: Generation | undefined
  try {
    for (const one of wanted) {
      at = one.plugin
      problems.set(at, await settled(one, roster, parts))
    }
    at = wanted[0]?.plugin
    next = roster.arranged()
    if (actor) await refuseLockout(next.chain, actor)
    await store()
    for (const [plugin, problem] of problems) plugin.problem = problem
    roster.swap(next)
  } catch (error) {
    await next?.retire(0)
    for (const { plugin, setting, instance } of before) {
      if (plugin.instance !== instance) await plugin.instance?.scope.dispose()
      Object.assign(plugin, { setting, instance })
    }
    if (at) at.problem = explain(error)
    throw isGatewayError(error)
      ? error
      : conflict(`${at?.id ?? 'It'} could not be started: ${explain(error)}`, { cause: error })
  }
}

/** Gives a plugin its setting and the instance that goes with it; why it has none although it is on. */
async function settled(
  { plugin, setting, renew }: Wanted,
  { plugins }: Roster,
  parts: SetupParts,
): Promise<string | undefined> {
  const before = plugin.setting
  plugin.setting = setting
  const running = plugin.instance
  if (!setting.enabled) {
    plugin.instance = undefined
    // Whatever is wrong with its settings, a plugin can be switched off.
    if (renew && !isDeepStrictEqual(before?.config, setting.config)) await settingsOf(plugin, parts.isolation)
    return undefined
  }
  const missing = missingOf(plugin, plugins)
  if (missing.length > 0) {
    plugin.instance = undefined
    return `waits for ${missing.join(', ')}`
  }
  if (running && !renew) return plugin.problem
  plugin.instance = undefined
  plugin.instance = await setUp(plugin, parts)
  return undefined
}

/** Starts a plugin that can run now. One that fails is left with its problem, and stops nobody. */
export async function begin(plugin: Plugin, roster: Roster, parts: SetupParts): Promise<void> {
  try {
    plugin.instance = await setUp(plugin, parts)
    offersOf(roster.live)
  } catch (error) {
    await plugin.instance?.scope.dispose()
    plugin.instance = undefined
    plugin.problem = explain(error)
    if (error instanceof ConfigError) plugin.misconfigured = error.problems
    parts.log.error({ plugin: plugin.id, problem: plugin.problem }, 'a plugin could not be started')
  }
}

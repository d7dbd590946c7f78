import type { Setting } from '../../config/setting.ts'
import { compileWhen, type When } from '../../kit/calls/when.ts'
import { internalError } from '../../kit/errors.ts'
import type { Entry } from '../chain/entry.ts'
import { hooksOf } from '../chain/hooks.ts'
import type { ProviderSpec } from '../contract/provider.ts'
import { isPlaced, type PlacedManifest } from '../discovery/manifest.ts'
import { inOrder, reasonOf } from './order.ts'
import type { Plugin, PluginState } from './plugin-record.ts'
import type { Shadow } from './shadow.ts'

/** The place of a module, or of an area with hooks, among all of them. */
export interface Placement {
  readonly plugin: Plugin
  readonly manifest: PlacedManifest
  /** Why it stands here, for people. */
  readonly reason: string
}

/** A module as it was in an arrangement, for a later explanation. */
export interface Arranged {
  readonly name: string
  readonly version: string
  readonly stage: string
  readonly state: PluginState
  readonly mode: Setting['mode']
  readonly hooks: readonly string[]
  readonly when: When | undefined
  readonly problem?: string | undefined
}

/** A place as it is remembered. */
export function arrangedOf({ plugin, manifest }: Placement, state: PluginState): Arranged {
  return {
    name: plugin.id,
    version: manifest.version,
    stage: manifest.stage,
    state,
    mode: plugin.setting?.mode ?? 'enforce',
    hooks: plugin.instance ? hooksOf(plugin.instance.hooks) : [],
    when: plugin.setting?.when,
    problem: plugin.problem,
  }
}

/** Those of these plugins that have a place in the chain, in its order, whether they run or not. */
export function placesOf(plugins: Iterable<Plugin>): Placement[] {
  const placed = [...plugins].flatMap((plugin) => {
    const { manifest, setting } = plugin
    return isPlaced(manifest) && setting ? [{ id: plugin.id, plugin, manifest, order: setting.order }] : []
  })
  return inOrder(placed).map((place) => ({ ...place, reason: reasonOf(place) }))
}

/** Of all that are switched on, also when their code could not start: their calls must fail, not go elsewhere. */
export function providersOf(plugins: Iterable<Plugin>): Map<string, ProviderSpec> {
  return new Map(
    [...plugins].flatMap(({ id, manifest, setting }) =>
      setting?.enabled && manifest?.kind === 'provider' && manifest.provider
        ? [[id, manifest.provider] as const]
        : [],
    ),
  )
}

/**
 * The module's place in the chain. One that should guard and cannot start refuses, rather than let calls pass; a folder
 * that is broken and that was not asked for does not stop the others.
 */
export function entryOf(plugin: Plugin, state: PluginState, shadow: Shadow): Entry[] {
  const { manifest, instance, setting, meter, id } = plugin
  if (!isPlaced(manifest) || !setting?.enabled) return []
  const { stage, failure, finds } = manifest
  const when = compileWhen(setting.when)
  const isShadow = setting.mode === 'shadow'
  if (instance) {
    const entry: Entry = { id, stage, failure, finds, when, meter, hooks: instance.hooks }
    return [isShadow ? shadow.place(entry) : entry]
  }
  if (isShadow || failure === 'open' || (state === 'invalid' && !setting.asked)) return []
  const refuse = (): never => {
    throw internalError(`The module ${id} is switched on and could not start: ${plugin.problem ?? state}.`, {
      module: id,
    })
  }
  return [{ id, stage, failure, when, meter, hooks: { pure: true, request: refuse, eligible: refuse } }]
}

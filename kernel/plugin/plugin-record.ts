import { z } from 'zod'
import type { Setting, StoredSetting } from '../../config/setting.ts'
import type { Meter } from '../chain/meter.ts'
import type { Definition } from '../contract/plugin.ts'
import { type Discovered, idPattern, type Manifest } from '../discovery/manifest.ts'
import type { Instance } from './instance.ts'
import type { Memory } from './memory.ts'

export type PluginState = 'active' | 'tripped' | 'disabled' | 'waiting' | 'failed' | 'invalid'

/** A further configuration of a module: an instance of its own, with what it remembers and stores of its own. */
export interface Binding {
  readonly module: string
  readonly name: string
}

export const bindingName = z.string().regex(idPattern, 'must be lower case letters, digits and dashes')

export const bindingId = (module: string, name: string): string => `${module}/${name}`

/** The module of a binding, or the plugin itself. */
export const moduleOf = (id: string): string => id.split('/')[0]!

/**
 * A plugin as the registry knows it, or one binding of a module, whose id is `module/name`. A change puts another record
 * in its place, so what a record says of settings and instance stays true for as long as the record stands.
 */
export interface Plugin {
  readonly id: string
  readonly found: Discovered
  readonly manifest: Manifest | undefined
  readonly meter: Meter
  readonly memory: Memory
  readonly binding?: Binding
  readonly stored: StoredSetting | undefined
  readonly setting: Setting | undefined
  readonly instance: Instance | undefined
  /** Lets go of the staged copy it was found with. */
  readonly release: (() => void) | undefined
  /** Lines of the configuration that its setup has refused. */
  readonly misconfigured?: readonly string[]
  /** Its code, once it is imported. */
  definition: Definition | undefined
  /** The settings that it takes, of one whose code is not imported here. */
  described?: z.ZodType
  /** Why it does not run, or why the last change was not taken. */
  problem: string | undefined
}

/** The namespace of the store in which every plugin has its own. */
export const storeOfPlugins = 'plugins'

/** The name of a plugin's part of the store: ids have no underscore, so none of a binding is another plugin's. */
export const storeName = (id: string): string => id.replace('/', '_')

/** Plugins and bindings by their ids. */
export type Plugins = ReadonlyMap<string, Plugin>

/** The needs of a plugin that are not met. */
export function missingOf(plugin: Plugin, plugins: Plugins): string[] {
  return (plugin.manifest?.requires ?? []).filter((id) => !plugins.get(id)?.instance)
}

export function stateOf(plugin: Plugin, plugins: Plugins): PluginState {
  if (plugin.instance) return plugin.meter.circuit.state === 'closed' ? 'active' : 'tripped'
  if (!plugin.manifest || plugin.found.problem) return 'invalid'
  if (!plugin.setting?.enabled) return 'disabled'
  return missingOf(plugin, plugins).length > 0 ? 'waiting' : 'failed'
}

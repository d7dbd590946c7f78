import type { z } from 'zod'
import type { Meter } from '../chain/meter.ts'
import type { Instance } from './instance.ts'
import type { Discovered, Manifest } from './manifest.ts'
import type { Memory } from './memory.ts'
import type { ModuleDefinition, PluginDefinition } from './plugin.ts'
import type { Setting, StoredSetting } from './setting.ts'

export type PluginState = 'active' | 'tripped' | 'disabled' | 'waiting' | 'failed' | 'invalid'

/** A further configuration of a module: an instance of its own, with what it remembers and stores of its own. */
export interface Binding {
  readonly module: string
  readonly name: string
}

/** A plugin as the registry knows it, or one binding of a module, whose id is `module/name`. */
export interface Plugin {
  readonly id: string
  readonly found: Discovered
  readonly manifest: Manifest | undefined
  readonly meter: Meter
  readonly memory: Memory
  readonly binding?: Binding
  stored: StoredSetting | undefined
  setting: Setting | undefined
  definition: ModuleDefinition | PluginDefinition | undefined
  /** The settings that it takes, of one whose code is not imported here. */
  described?: z.ZodType
  instance: Instance | undefined
  /** Lets go of the staged copy it was found with. */
  readonly release: (() => void) | undefined
  /** Why it does not run, or why the last change was not taken. */
  problem: string | undefined
  /** Lines of the configuration that its setup has refused. */
  misconfigured?: readonly string[]
}

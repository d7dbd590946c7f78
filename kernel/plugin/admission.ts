import { z } from 'zod'
import type { Collection } from '../../storage/index.ts'
import { Meter } from '../chain/meter.ts'
import { type CircuitLimits, ModuleCircuit } from '../chain/module-circuit.ts'
import { announced } from '../chain/module-events.ts'
import type { Events } from '../events.ts'
import type { Log } from '../log.ts'
import type { Discovered, Manifest } from './manifest.ts'
import { Memory } from './memory.ts'
import type { Plugin } from './plugin-record.ts'
import { effective, type Setting, type SettingChange, type StoredSetting } from './setting.ts'

/** What is known of plugins before any of their code has run. */
export interface AdmissionParts {
  readonly events: Events
  readonly log: Log
  readonly settings: Collection<StoredSetting>
  /** What the configuration file says; of a binding under `module/name`. */
  readonly configured: Readonly<Record<string, SettingChange>>
  /** When a module that keeps failing is left out. */
  readonly circuit?: CircuitLimits
}

export const bindingName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be lower case letters, digits and dashes')

export const bindingId = (module: string, name: string): string => `${module}/${name}`

/** Makes the records of plugins and bindings from what was found, configured and stored. */
export class Admission {
  readonly #parts: AdmissionParts
  readonly #plugins: ReadonlyMap<string, Plugin>

  constructor(parts: AdmissionParts, plugins: ReadonlyMap<string, Plugin>) {
    this.#parts = parts
    this.#plugins = plugins
  }

  /** The record of what was found; what the one before remembers and was measured at goes on. */
  async plugin(found: Discovered): Promise<Plugin> {
    const { id, manifest } = found
    const before = this.#plugins.get(id)
    const stored = manifest && (await this.#parts.settings.get(id))
    const setting = manifest && this.#effective(manifest, found, stored)
    const problem = found.problem
    const release = found.staged?.hold()
    const own = { definition: undefined, instance: undefined, release }
    return { id, found, manifest, stored, setting, problem, ...this.#kept(id, before), ...own }
  }

  /** The records of a module's bindings, in the order of their names. */
  async bindings(module: Plugin): Promise<Plugin[]> {
    if (module.manifest?.kind !== 'module' || module.found.problem) return []
    const prefix = bindingId(module.id, '')
    const ids = new Set(Object.keys(this.#parts.configured).filter((id) => id.startsWith(prefix)))
    for await (const [id] of this.#parts.settings.scan()) if (id.startsWith(prefix)) ids.add(id)
    return Promise.all(
      [...ids].sort().map(async (id) => {
        return this.binding(module, id.slice(prefix.length), await this.#parts.settings.get(id))
      }),
    )
  }

  /** The record of one binding. */
  binding(module: Plugin, name: string, stored: StoredSetting | undefined): Plugin {
    const id = bindingId(module.id, name)
    const binding = { module: module.id, name }
    const record: Plugin = {
      id,
      found: module.found,
      manifest: module.manifest,
      binding,
      stored,
      setting: undefined,
      problem: undefined,
      ...this.#kept(id, this.#plugins.get(id)),
      definition: undefined,
      instance: undefined,
      release: undefined,
    }
    record.setting = this.settingOf(record, stored, module.setting!)
    return record
  }

  /**
   * What holds for a plugin with this stored. A binding is on by default, runs only while its module does, and stands
   * beside it unless it says otherwise.
   */
  settingOf(plugin: Plugin, stored: StoredSetting | undefined, module?: Setting): Setting {
    const { binding } = plugin
    if (!binding) return this.#effective(plugin.manifest!, plugin.found, stored)
    const above = module ?? this.#plugins.get(binding.module)!.setting!
    const file = this.#parts.configured[plugin.id]
    const said = effective({ enabled: true, order: above.order }, file, stored)
    const isolation = said.isolation ?? above.isolation
    return { ...said, enabled: said.enabled && above.enabled, ...(isolation && { isolation }) }
  }

  /** Whether a plugin or a binding stands in the configuration file. */
  isConfigured(id: string): boolean {
    return this.#parts.configured[id] !== undefined
  }

  #effective(manifest: Manifest, { id, installed }: Discovered, stored: StoredSetting | undefined): Setting {
    return effective(manifest, installed && { enabled: true }, this.#parts.configured[id], stored)
  }

  #kept(id: string, before: Plugin | undefined): Pick<Plugin, 'memory' | 'meter'> {
    return { memory: before?.memory ?? new Memory(), meter: before?.meter ?? this.#meter(id) }
  }

  #meter(id: string): Meter {
    const meter: Meter = new Meter(
      new ModuleCircuit(this.#parts.circuit, (change) =>
        announced(id, this.#plugins.get(id) ?? { manifest: undefined }, meter, change, this.#parts),
      ),
    )
    return meter
  }
}

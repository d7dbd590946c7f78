import type { CircuitLimits } from '../../config/circuit-limits.ts'
import { effective, type Setting, type SettingChange, type StoredSetting } from '../../config/setting.ts'
import type { Collection } from '../../storage/index.ts'
import { Meter } from '../chain/meter.ts'
import { ModuleCircuit } from '../chain/module-circuit.ts'
import type { Discovered } from '../discovery/manifest.ts'
import type { Events } from '../events.ts'
import type { Log } from '../log.ts'
import { Memory } from './memory.ts'
import { announceChange } from './module-events.ts'
import { type Binding, bindingId, type Plugin } from './plugin-record.ts'
import type { PluginTable } from './plugin-table.ts'

/** The facts known of plugins before any of their code has run. */
export interface RecordParts {
  readonly events: Events
  readonly log: Log
  readonly settings: Collection<StoredSetting>
  /** The settings in the configuration file, by the ids of plugins; of a binding under `module/name`. */
  readonly configured: Readonly<Record<string, SettingChange>>
  /** When a module that keeps failing is left out. */
  readonly circuit?: CircuitLimits
}

/** Makes the records of plugins and bindings from what was found, configured and stored. */
export class Records {
  readonly #parts: RecordParts
  readonly #table: Pick<PluginTable, 'find' | 'bindings'>

  constructor(parts: RecordParts, table: Pick<PluginTable, 'find' | 'bindings'>) {
    this.#parts = parts
    this.#table = table
  }

  /** The records of what was found and of its bindings, in the order of their names. */
  async read(found: Discovered): Promise<Plugin[]> {
    const { settings, configured } = this.#parts
    const stored = found.manifest && (await settings.get(found.id))
    const plugin = { ...this.#recordOf(found, found.id, stored), release: found.staged?.hold() }
    if (found.manifest?.kind !== 'module' || found.problem) return [plugin]
    const prefix = bindingId(found.id, '')
    const ids = new Set(Object.keys(configured).filter((id) => id.startsWith(prefix)))
    for await (const [id] of settings.scan()) if (id.startsWith(prefix)) ids.add(id)
    const bindings = [...ids].sort().map(async (id) => {
      return this.binding(plugin, id.slice(prefix.length), await settings.get(id))
    })
    return [plugin, ...(await Promise.all(bindings))]
  }

  /** The record of one binding. */
  binding(module: Plugin, name: string, stored: StoredSetting | undefined): Plugin {
    const id = bindingId(module.id, name)
    return this.#recordOf(module.found, id, stored, { module: module.id, name }, module.setting)
  }

  /** A record with these settings, to be set up by them; a binding goes by those of its module, too. */
  withSettings(plugin: Plugin, stored: StoredSetting | undefined, module?: Setting): Plugin {
    return { ...plugin, stored, setting: this.#settingOf(plugin, stored, module), instance: undefined }
  }

  /** The same with its bindings, which go by these settings as well. The bindings that still run keep their instances. */
  withBindings(plugin: Plugin, stored: StoredSetting | undefined): Plugin[] {
    const next = this.withSettings(plugin, stored)
    const bindings = plugin.binding ? [] : this.#table.bindings(plugin.id)
    const bound = bindings.map((binding) => {
      const instance = next.setting?.enabled ? binding.instance : undefined
      return { ...this.withSettings(binding, binding.stored, next.setting), instance }
    })
    return [next, ...bound]
  }

  /** The plugins and bindings that these rows lead to: modules first, as their bindings depend on them. */
  restored(rows: ReadonlyMap<string, StoredSetting | undefined>): { put: Plugin[]; remove: Plugin[] } {
    const put = new Map<string, Plugin>()
    const remove: Plugin[] = []
    const find = (id: string) => put.get(id) ?? this.#table.find(id)
    for (const [id, stored] of [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const [module = '', name] = id.split('/')
      const owner = find(module)
      if (!owner?.manifest || owner.found.problem) continue
      const known = find(id)
      if (name === undefined) for (const one of this.withBindings(owner, stored)) put.set(one.id, one)
      else if (stored || this.isConfigured(id)) {
        const binding = known ?? this.binding(owner, name, stored)
        put.set(id, this.withSettings(binding, stored, owner.setting))
      } else if (known) {
        put.delete(id)
        remove.push(known)
      }
    }
    return { put: [...put.values()], remove }
  }

  /** Whether a plugin or a binding stands in the configuration file. */
  isConfigured(id: string): boolean {
    return this.#parts.configured[id] !== undefined
  }

  /** A new record takes over the memory and the measurements of the one before. */
  #recordOf(
    found: Discovered,
    id: string,
    stored: StoredSetting | undefined,
    binding?: Binding,
    module?: Setting,
  ): Plugin {
    const { manifest, problem } = found
    const before = this.#table.find(id)
    const kept = { memory: before?.memory ?? new Memory(), meter: before?.meter ?? this.#meter(id) }
    const own = { definition: undefined, instance: undefined, release: undefined }
    const base = { id, found, manifest, ...(binding && { binding }), stored, problem, ...kept, ...own }
    const setting = manifest && this.#settingOf(base, stored, module)
    return { ...base, setting }
  }

  /**
   * The state of a plugin with this stored row. A binding is on by default, runs only while its module does, and stands beside
   * it unless its settings say otherwise.
   */
  #settingOf(
    { id, manifest, found, binding }: Omit<Plugin, 'setting'>,
    stored: StoredSetting | undefined,
    module: Setting | undefined,
  ): Setting {
    const file = this.#parts.configured[id]
    if (!binding) return effective(manifest!, found.installed && { enabled: true }, file, stored)
    const above = module ?? this.#table.find(binding.module)!.setting!
    const said = effective({ enabled: true, order: above.order }, file, stored)
    const isolation = said.isolation ?? above.isolation
    return { ...said, enabled: said.enabled && above.enabled, ...(isolation && { isolation }) }
  }

  #meter(id: string): Meter {
    const meter: Meter = new Meter(
      new ModuleCircuit(this.#parts.circuit, (change) =>
        announceChange(id, this.#table.find(id) ?? { manifest: undefined }, meter, change, this.#parts),
      ),
    )
    return meter
  }
}

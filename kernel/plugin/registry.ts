import { conflict } from '../errors.ts'
import { Admission, type AdmissionParts, bindingId } from './admission.ts'
import { begin, carryOut } from './change.ts'
import type { ContextParts } from './instance.ts'
import { Inventory } from './inventory.ts'
import type { Actor } from './lockout.ts'
import type { Discovered } from './manifest.ts'
import { ModuleChanged } from './module-changed.ts'
import type { Plugin } from './plugin-record.ts'
import { replace } from './replacement.ts'
import { refuseIfNeeded, startWaiting } from './requirements.ts'
import { Roster, type RosterParts } from './roster.ts'
import { changed, type SettingChange } from './setting.ts'
import { definitionOf } from './setup.ts'

/** How long a plugin that was switched off is remembered. */
const memoryMs = 10 * 60_000

type Parts = ContextParts & AdmissionParts

/** All plugins, and the generation made of those that run. Changes happen one at a time, each wholly or not at all. */
export class Registry extends Inventory {
  readonly #parts: Parts
  readonly #roster: Roster
  readonly #plugins: Map<string, Plugin>
  readonly #admission: Admission
  readonly #begin = (plugin: Plugin): Promise<void> => begin(plugin, this.#roster, this.#parts)
  #changes: Promise<unknown> = Promise.resolve()

  constructor({ dispatch, retireMs, ...parts }: Omit<Parts, 'service' | 'current'> & RosterParts) {
    const roster = new Roster({ dispatch, retireMs, log: parts.log })
    super(roster)
    this.#roster = roster
    this.#plugins = roster.plugins
    this.#parts = {
      ...parts,
      service: (token) => this.#roster.service(token),
      current: (instance) => this.#plugins.get(instance.id)?.instance === instance,
    }
    this.#admission = new Admission(parts, this.#plugins)
  }

  /** Takes in what was found and starts what is enabled. Whoever fails is recorded; the rest runs. */
  async start(found: readonly Discovered[]): Promise<void> {
    for (const item of found) this.#take(await this.#admitted(item))
    const enabled = [...this.#plugins.values()].filter(
      (plugin) => plugin.setting?.enabled && !plugin.found.problem,
    )
    await Promise.all(enabled.map((plugin) => definitionOf(plugin, this.#parts.setupMs).catch(() => {})))
    await startWaiting(this.#plugins, this.#begin)
    this.#roster.swap(this.#roster.arranged())
  }

  /**
   * Toggles or reconfigures. Resolves when the change is on disk and every new call runs on it; when it rejects,
   * nothing has changed and what ran before still runs. A change that would shut out its actor is refused.
   */
  change(id: string, change: SettingChange, actor?: Actor): Promise<Plugin> {
    return this.#alone(() => this.#change(this.get(id), change, actor))
  }

  /**
   * Takes in a plugin that was found later, or other code for one that is there: its settings, what it remembers and
   * what it stored stay. Wholly or not at all: when it rejects, what ran before still runs, and the plugin says why.
   */
  install(found: Discovered): Promise<Plugin> {
    return this.#alone(async () => {
      const next = await this.#admitted(found)
      await replace(this.#roster, this.#parts, next)
      return this.#settled(next[0]!)
    })
  }

  /** Adds a further configuration of a module, which acts beside the module's own; as `change` does, or not at all. */
  bind(module: string, name: string, change: SettingChange, actor?: Actor): Promise<Plugin> {
    return this.#alone(async () => {
      const owner = this.get(module, 'module')
      const id = bindingId(owner.id, name)
      if (!owner.setting || owner.found.problem) throw conflict(`${module} cannot run: ${owner.problem}`)
      if (this.#plugins.has(id))
        throw conflict(`${module} has a binding called ${name} already.`, { param: 'name' })
      const plugin = this.#admission.binding(owner, name, undefined)
      this.#plugins.set(id, plugin)
      try {
        return await this.#change(plugin, change, actor)
      } catch (error) {
        this.#plugins.delete(id)
        throw error
      }
    })
  }

  /** Removes a binding and forgets its settings. One that stands in the configuration file can only be switched off. */
  unbind(module: string, name: string, actor?: Actor): Promise<void> {
    return this.#alone(async () => {
      const plugin = this.binding(module, name)
      if (this.#admission.isConfigured(plugin.id)) {
        throw conflict(
          `${plugin.id} stands in service.yaml: remove it there, or switch it off with enabled: false.`,
        )
      }
      this.#plugins.delete(plugin.id)
      const store = () => this.#parts.settings.delete(plugin.id)
      try {
        await carryOut([], { roster: this.#roster, parts: this.#parts, actor, store })
      } catch (error) {
        this.#plugins.set(plugin.id, plugin)
        throw error
      }
      this.#tell(plugin.id, false, 'removed')
    })
  }

  /** Stops and forgets a plugin; its settings and what it stored stay. Refused while another one needs it. */
  remove(id: string): Promise<void> {
    return this.#alone(async () => {
      const plugin = this.get(id)
      refuseIfNeeded(plugin, this.plugins)
      for (const gone of [plugin, ...this.bindings(id)]) this.#plugins.delete(gone.id)
      this.#roster.swap(this.#roster.arranged())
      plugin.release?.()
      this.#tell(id, false, 'removed')
    })
  }

  /** Does work about a plugin that is gone, while none of its name can come. Rejects with a conflict when it is there. */
  whileGone<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.#alone(async () => {
      if (!this.#plugins.has(id)) return work()
      throw conflict(
        `${id} is still there: only what a plugin that is gone has left can be forgotten. Remove it first.`,
        { param: 'name' },
      )
    })
  }

  /** Notes on a plugin why it is not as it should be, without a change to what runs. */
  note(id: string, problem: string | undefined): void {
    this.get(id).problem = problem
  }

  /** Ends every plugin; calls that still run lose theirs after the deadline. */
  async close(): Promise<void> {
    await this.#changes
    await this.#roster.close()
  }

  #alone<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#changes.then(change)
    this.#changes = result.catch(() => {})
    return result
  }

  /** A plugin and its bindings, first the plugin. */
  async #admitted(found: Discovered): Promise<Plugin[]> {
    const plugin = await this.#admission.plugin(found)
    return [plugin, ...(await this.#admission.bindings(plugin))]
  }

  #take(plugins: readonly Plugin[]): void {
    for (const plugin of plugins) this.#plugins.set(plugin.id, plugin)
  }

  async #change(plugin: Plugin, change: SettingChange, actor: Actor | undefined): Promise<Plugin> {
    const { id, manifest } = plugin
    if (!manifest || plugin.found.problem) throw conflict(`${id} cannot run: ${plugin.problem}`)
    const stored = changed(plugin.stored, change)
    const setting = this.#admission.settingOf(plugin, stored)
    if (!setting.enabled) refuseIfNeeded(plugin, this.plugins)
    const bound = this.bindings(id).map((binding) => {
      return {
        plugin: binding,
        setting: this.#admission.settingOf(binding, binding.stored, setting),
        renew: false,
      }
    })
    const store = () => this.#parts.settings.put(id, stored)
    const doing = { roster: this.#roster, parts: this.#parts, actor, store }
    await carryOut([{ plugin, setting, renew: true }, ...bound], doing)
    plugin.stored = stored
    return this.#settled(plugin)
  }

  /** What follows a change that was made: what is remembered, who waited for it, who wants to know. */
  async #settled(plugin: Plugin): Promise<Plugin> {
    const enabled = plugin.setting?.enabled ?? false
    for (const { memory, setting } of [plugin, ...this.bindings(plugin.id)]) {
      if (setting?.enabled) memory.keep()
      else memory.fade(memoryMs)
    }
    if (enabled && (await startWaiting(this.#plugins, this.#begin, plugin.id)))
      this.#roster.swap(this.#roster.arranged())
    this.#tell(plugin.id, enabled, this.stateOf(plugin))
    return plugin
  }

  #tell(name: string, enabled: boolean, state: string): void {
    this.#parts.events.emit(ModuleChanged, { name, enabled, state, generation: this.generation.number })
  }
}

import { conflict } from '../errors.ts'
import type { PluginNews } from '../threads/messages.ts'
import { Admission, type AdmissionParts, bindingId } from './admission.ts'
import { Alterations } from './alterations.ts'
import { Inventory } from './inventory.ts'
import type { Actor } from './lockout.ts'
import type { Discovered } from './manifest.ts'
import type { Plugin } from './plugin-record.ts'
import { replace } from './replacement.ts'
import { refuseIfNeeded, startWaiting } from './requirements.ts'
import { Roster, type RosterParts } from './roster.ts'
import type { SettingChange } from './setting.ts'
import { definitionOf, type SetupParts } from './setup.ts'
import { Turns } from './turns.ts'

type Parts = SetupParts &
  AdmissionParts & {
    /** Told of each change that was made, before the next one begins. */
    readonly told?: (news: PluginNews) => Promise<void>
  }

/** All plugins, and the generation made of those that run. Changes happen one at a time, each wholly or not at all. */
export class Registry extends Inventory {
  readonly #parts: Parts
  readonly #roster: Roster
  readonly #plugins: Map<string, Plugin>
  readonly #admission: Admission
  readonly #alterations: Alterations
  readonly #turns: Turns<PluginNews>

  constructor(given: Omit<Parts, 'service' | 'current'> & RosterParts) {
    const { retireMs, firstNumber = 1, ...parts } = given
    const roster = new Roster({ retireMs, firstNumber, log: parts.log })
    super(roster, parts.isolation)
    this.#roster = roster
    this.#plugins = roster.plugins
    this.#parts = {
      ...parts,
      service: (token) => this.#roster.service(token),
      current: (instance) => this.#plugins.get(instance.id)?.instance === instance,
    }
    this.#admission = new Admission(parts, this.#plugins)
    this.#alterations = new Alterations(this.#parts, roster, this.#admission)
    this.#turns = new Turns(parts.told)
  }

  /** Takes in what was found and starts what is enabled. Whoever fails is recorded; the rest runs. */
  async start(found: readonly Discovered[]): Promise<void> {
    for (const item of found) this.#take(await this.#admitted(item))
    const enabled = [...this.#plugins.values()].filter(
      (plugin) => plugin.setting?.enabled && !plugin.found.problem,
    )
    await Promise.all(enabled.map((plugin) => definitionOf(plugin, this.#parts.setupMs).catch(() => {})))
    await startWaiting(this.#plugins, this.#alterations.begin)
    this.#roster.swap(this.#roster.arranged())
  }

  /** What is wrong with the configuration, as plugins found when they were set up and find now that all have started. */
  verify(): string[] {
    const refused = this.plugins.flatMap(({ misconfigured = [] }) => misconfigured)
    return [...refused, ...this.#roster.live.flatMap(({ checks }) => checks.flatMap((check) => check()))]
  }

  /**
   * Toggles or reconfigures. Resolves when the change is on disk and every new call runs on it; when it rejects,
   * nothing has changed and what ran before still runs. A change that would shut out its actor is refused.
   */
  change(id: string, change: SettingChange, actor?: Actor): Promise<Plugin> {
    return this.#turns.take(() => this.#alterations.change(this.get(id), change, actor), { set: id })
  }

  /**
   * Takes in a plugin that was found later, or other code for one that is there: its settings, what it remembers and
   * what it stored stay. Wholly or not at all: when it rejects, what ran before still runs, and the plugin says why.
   */
  install(found: Discovered): Promise<Plugin> {
    const install = async (): Promise<Plugin> => {
      const next = await this.#admitted(found)
      await replace(this.#roster, this.#parts, next)
      return this.#alterations.settle(next[0]!)
    }
    return this.#turns.take(install, { installed: found.id })
  }

  /** Adds a further configuration of a module, which acts beside the module's own; as `change` does, or not at all. */
  bind(module: string, name: string, change: SettingChange, actor?: Actor): Promise<Plugin> {
    const id = bindingId(module, name)
    const bind = async (): Promise<Plugin> => {
      const owner = this.get(module, 'module')
      if (!owner.setting || owner.found.problem) throw conflict(`${module} cannot run: ${owner.problem}`)
      if (this.#plugins.has(id))
        throw conflict(`${module} has a binding called ${name} already.`, { param: 'name' })
      const plugin = this.#admission.binding(owner, name, undefined)
      this.#plugins.set(id, plugin)
      try {
        return await this.#alterations.change(plugin, change, actor)
      } catch (error) {
        this.#plugins.delete(id)
        throw error
      }
    }
    return this.#turns.take(bind, { set: id })
  }

  /** Removes a binding and forgets its settings. One that stands in the configuration file can only be switched off. */
  unbind(module: string, name: string, actor?: Actor): Promise<void> {
    const unbind = async (): Promise<void> => {
      const plugin = this.binding(module, name)
      if (this.#admission.isConfigured(plugin.id)) {
        throw conflict(
          `${plugin.id} stands in service.yaml: remove it there, or switch it off with enabled: false.`,
        )
      }
      await this.#alterations.drop(plugin, () => this.#parts.settings.delete(plugin.id), actor)
    }
    return this.#turns.take(unbind, { set: bindingId(module, name) })
  }

  /** Stops and forgets a plugin; its settings and what it stored stay. Refused while another one needs it. */
  remove(id: string): Promise<void> {
    const remove = async (): Promise<void> => {
      const plugin = this.get(id)
      refuseIfNeeded(plugin, this.plugins)
      for (const gone of [plugin, ...this.bindings(id)]) this.#plugins.delete(gone.id)
      this.#roster.swap(this.#roster.arranged())
      plugin.release?.()
      this.#alterations.tell(id, false, 'removed')
    }
    return this.#turns.take(remove, { removed: id })
  }

  /** Takes over what was stored of a plugin or a binding by another thread, as if it had been changed here. */
  follow(id: string): Promise<void> {
    return this.#turns.take(async () => {
      const [module = '', name] = id.split('/')
      const stored = await this.#parts.settings.get(id)
      if (name !== undefined && !stored && !this.#admission.isConfigured(id))
        return this.#alterations.drop(this.get(id))
      if (name !== undefined && !this.#plugins.has(id))
        this.#plugins.set(id, this.#admission.binding(this.get(module, 'module'), name, stored))
      await this.#alterations.apply(this.get(id), stored)
    })
  }

  /** Does something while nothing changes. */
  whileStill<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(work)
  }

  /** Does work about a plugin that is gone, while none of its name can come. Rejects with a conflict when it is there. */
  whileGone<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.take(async () => {
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
    await this.#turns.end()
    await this.#roster.close()
  }

  /** A plugin and its bindings, first the plugin. */
  async #admitted(found: Discovered): Promise<Plugin[]> {
    const plugin = await this.#admission.plugin(found)
    return [plugin, ...(await this.#admission.bindings(plugin))]
  }

  #take(plugins: readonly Plugin[]): void {
    for (const plugin of plugins) this.#plugins.set(plugin.id, plugin)
  }
}

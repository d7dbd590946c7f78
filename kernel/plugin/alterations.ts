import { conflict } from '../errors.ts'
import type { Admission } from './admission.ts'
import { begin, carryOut } from './change.ts'
import type { Actor } from './lockout.ts'
import { ModuleChanged } from './module-changed.ts'
import type { Plugin } from './plugin-record.ts'
import { refuseIfNeeded, startWaiting, stateOf } from './requirements.ts'
import type { Roster } from './roster.ts'
import { changed, type SettingChange, type StoredSetting } from './setting.ts'
import type { SetupParts } from './setup.ts'

/** How long a plugin that was switched off is remembered. */
const memoryMs = 10 * 60_000

type Parts = SetupParts & {
  readonly settings: { put(id: string, stored: StoredSetting): Promise<void> }
}

/** What it takes to have plugins go by other settings. Each must run alone. */
export class Alterations {
  readonly #parts: Parts
  readonly #roster: Roster
  readonly #admission: Admission

  constructor(parts: Parts, roster: Roster, admission: Admission) {
    this.#parts = parts
    this.#roster = roster
    this.#admission = admission
  }

  /** Starts a plugin that can run now. One that fails is left with its problem. */
  readonly begin = (plugin: Plugin): Promise<void> => begin(plugin, this.#roster, this.#parts)

  /** Changes a plugin's settings and stores them, wholly or not at all. */
  async change(plugin: Plugin, change: SettingChange, actor: Actor | undefined): Promise<Plugin> {
    const { id, manifest } = plugin
    if (!manifest || plugin.found.problem) throw conflict(`${id} cannot run: ${plugin.problem}`)
    const stored = changed(plugin.stored, change)
    return this.apply(plugin, stored, () => this.#parts.settings.put(id, stored), actor)
  }

  /** Has a plugin, and the bindings of a module, go by what is stored of it, or is when `store` has resolved. */
  async apply(
    plugin: Plugin,
    stored: StoredSetting | undefined,
    store?: () => Promise<unknown>,
    actor?: Actor,
  ): Promise<Plugin> {
    const setting = this.#admission.settingOf(plugin, stored)
    const { plugins } = this.#roster
    if (!setting.enabled)
      refuseIfNeeded(
        plugin,
        [...plugins.values()].filter(({ binding }) => !binding),
      )
    const bound = this.#bindings(plugin).map((binding) => {
      const own = this.#admission.settingOf(binding, binding.stored, setting)
      return { plugin: binding, setting: own, renew: false }
    })
    await carryOut([{ plugin, setting, renew: true }, ...bound], this.#doing(store, actor))
    plugin.stored = stored
    return this.settle(plugin)
  }

  /** Goes on without a plugin or a binding. When that cannot be, it stays. */
  async drop(plugin: Plugin, store?: () => Promise<unknown>, actor?: Actor): Promise<void> {
    const { plugins } = this.#roster
    plugins.delete(plugin.id)
    try {
      await carryOut([], this.#doing(store, actor))
    } catch (error) {
      plugins.set(plugin.id, plugin)
      throw error
    }
    this.tell(plugin.id, false, 'removed')
  }

  /** What follows a change that was made: what is remembered, who waited for it, who wants to know. */
  async settle(plugin: Plugin): Promise<Plugin> {
    const enabled = plugin.setting?.enabled ?? false
    for (const { memory, setting } of [plugin, ...this.#bindings(plugin)]) {
      if (setting?.enabled) memory.keep()
      else memory.fade(memoryMs)
    }
    const roster = this.#roster
    if (enabled && (await startWaiting(roster.plugins, this.begin, plugin.id))) roster.swap(roster.arranged())
    this.tell(plugin.id, enabled, stateOf(plugin, roster.plugins))
    return plugin
  }

  tell(name: string, enabled: boolean, state: string): void {
    const generation = this.#roster.generation.number
    this.#parts.events.emit(ModuleChanged, { name, enabled, state, generation })
  }

  #bindings({ id }: Plugin): Plugin[] {
    return [...this.#roster.plugins.values()].filter(({ binding }) => binding?.module === id)
  }

  #doing(store: () => Promise<unknown> = async () => {}, actor?: Actor) {
    return { roster: this.#roster, parts: this.#parts, actor, store }
  }
}

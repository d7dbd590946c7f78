import { changed, type SettingChange, type StoredSetting } from '../../config/setting.ts'
import { conflict } from '../../kit/errors.ts'
import { explain } from '../../kit/explain.ts'
import type { PersonalData } from '../contract/personal-data.ts'
import type { Actor } from '../contract/section.ts'
import type { Discovered } from '../discovery/manifest.ts'
import type { Change } from './change.ts'
import { ChangingTable } from './changing-table.ts'
import { isolationOf } from './isolation.ts'
import type { Journal } from './journal.ts'
import { migrate } from './migration.ts'
import { runningOnce, withOnce } from './once.ts'
import { bindingId, type Plugin } from './plugin-record.ts'
import { liveOf } from './plugin-table.ts'
import { definitionOf, setUp } from './setup.ts'

/** Settings and values of sections that change together. */
export interface JointChange extends Pick<Change, 'to' | 'isTrial'> {
  /** Of plugins and bindings, by their ids; undefined for none. */
  readonly rows: ReadonlyMap<string, StoredSetting | undefined>
  readonly values: readonly { readonly section: string; readonly key: string; readonly value: unknown }[]
}

/** All plugins, and the generation made of those that run: which changes there are, and what each of them takes. */
export class Registry extends ChangingTable {
  /** Takes in what was found and starts what is enabled. One that fails is left with its problem; the rest runs. */
  start(found: readonly Discovered[]): Promise<void> {
    return this.whileStill(async () => {
      const put: Plugin[] = []
      for (const item of found) put.push(...(await this.records.read(item)))
      const enabled = put.filter(
        ({ setting, found, binding }) => setting?.enabled && !found.problem && !binding,
      )
      await Promise.all(enabled.map((plugin) => definitionOf(plugin, this.parts.setupMs).catch(() => {})))
      await this.make({ put, start: 'some' })
    })
  }

  /** The configuration made at runtime, change by change. */
  get journal(): Pick<Journal, 'get' | 'last' | 'scan'> {
    return this.parts.journal!
  }

  /** The problems of the configuration that plugins found in setup, and find now that all have started. */
  verify(): string[] {
    const refused = this.plugins.flatMap(({ misconfigured = [] }) => misconfigured)
    return [
      ...refused,
      ...withOnce(liveOf(this.all)).flatMap(({ checks }) => checks.flatMap((check) => check())),
    ]
  }

  /**
   * Toggles or reconfigures. Resolves once the change is on disk and every new call runs on it; when it rejects, nothing has changed.
   * A change that would shut out its actor is refused, and one for which `demand` throws, which is asked while nothing else changes.
   */
  change(id: string, change: SettingChange, actor?: Actor, demand = () => {}): Promise<Plugin> {
    return this.whileStill(async () => {
      demand()
      return this.#change(this.get(id), change, actor)
    })
  }

  /** Adds a further configuration of a module, which acts beside the module's own; as `change` does, or not at all. */
  bind(module: string, name: string, change: SettingChange, actor?: Actor): Promise<Plugin> {
    return this.whileStill(async () => {
      const owner = this.get(module, 'module')
      if (this.find(bindingId(module, name)))
        throw conflict(`${module} has a binding called ${name} already.`, { param: 'name' })
      return this.#change(this.records.binding(owner, name, undefined), change, actor)
    })
  }

  /** Removes a binding and forgets its settings. One that stands in the configuration file can only be switched off. */
  unbind(module: string, name: string, actor?: Actor): Promise<void> {
    return this.whileStill(async () => {
      const plugin = this.binding(module, name)
      const { id } = plugin
      if (this.records.isConfigured(id))
        throw conflict(`${id} is set in service.yaml: remove it there, or switch it off with enabled: false.`)
      await this.make({ remove: [plugin], rows: new Map([[id, undefined]]), actor, news: { set: [id] } })
    })
  }

  /**
   * Takes in a plugin that was found later, or other code for a known one: its settings, its memory and its stored data stay.
   * Wholly or not at all: when it rejects, the code before still runs, and the plugin shows the reason. Where none ran, a
   * plugin that cannot start is taken with its problem.
   */
  install(found: Discovered): Promise<Plugin> {
    return this.whileStill(async () => {
      const put = await this.records.read(found)
      const old = this.find(found.id)
      const ids = new Set(put.map(({ id }) => id))
      const remove = this.bindings(found.id).filter(({ id }) => !ids.has(id))
      const news = { installed: found.id }
      try {
        await this.make({ put, remove, news })
      } catch (error) {
        if (old?.instance) {
          put[0]!.release?.()
          throw error
        }
        const problem = explain(error instanceof Error ? (error.cause ?? error) : error)
        put[0] = { ...put[0]!, problem }
        await this.make({ put, remove, start: 'none', news })
      }
      return this.get(found.id)
    })
  }

  /** Stops and forgets a plugin; its settings and what it stored stay. Refused while another one needs it. */
  remove(id: string): Promise<void> {
    return this.whileStill(() =>
      this.make({ remove: [this.get(id), ...this.bindings(id)], news: { removed: id } }),
    )
  }

  /** Forgets the settings of a plugin that is gone, and of its bindings; whether there were any. */
  forget(id: string, actor?: Actor): Promise<boolean> {
    return this.whileGone(id, async () => {
      const rows = new Map<string, undefined>()
      for await (const [own] of this.parts.settings.scan())
        if (own === id || own.startsWith(bindingId(id, ''))) rows.set(own, undefined)
      if (rows.size > 0) await this.make({ rows, actor, news: { set: [] } })
      return rows.size > 0
    })
  }

  /**
   * Sets settings of plugins and bindings, and values of sections, as one change or not at all. `plan` is asked while nothing
   * else changes; a plan of nothing makes no generation. Resolves with the number of the generation that holds then. Code that
   * came or went stays as it is.
   */
  apply(plan: () => Promise<JointChange>, actor?: Actor): Promise<number> {
    return this.whileStill(async () => {
      this.refuseStale(actor)
      const { rows, values, ...rest } = await plan()
      if (rows.size + values.length > 0 || rest.to !== undefined) {
        const { put, remove } = this.records.restored(rows)
        const news = { set: [...put, ...remove].map(({ id }) => id) }
        const set = values.map(({ section, ...value }) => ({ section: this.section(section), ...value }))
        await this.make({ ...rest, put, remove, rows, values: set, actor, news })
      }
      return this.generation.number
    })
  }

  /** Takes over what was stored of plugins and bindings by another thread, as if it had been changed here. */
  follow(ids: readonly string[]): Promise<void> {
    return this.whileStill(async () => {
      const { settings } = this.parts
      const rows = new Map(await Promise.all(ids.map(async (id) => [id, await settings.get(id)] as const)))
      if (ids.length > 0) await this.make({ ...this.records.restored(rows), news: { set: ids } })
    })
  }

  /** Does work about a plugin that is gone, while none of its name can come. Rejects with a conflict when it is there. */
  whileGone<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.whileStill(async () => {
      if (!this.find(id)) return work()
      throw conflict(
        `${id} still exists: only the settings of a removed plugin can be deleted. Remove it first.`,
        { param: 'name' },
      )
    })
  }

  /** Notes on a plugin and its bindings the problem that they have, or that they have none. Running instances stay. */
  note(id: string, problem: string | undefined): void {
    for (const plugin of [this.get(id), ...this.bindings(id)]) plugin.problem = problem
  }

  /** Ends every plugin; calls that still run lose theirs after the deadline. */
  async close(): Promise<void> {
    await this.whileStill(async () => {})
    await this.end()
  }

  /**
   * Sets up a plugin or a binding that does not run, apart from all that do, asks what it keeps of persons, and ends it again. It
   * serves no calls and no routes, hears no events, and neither its timers nor its jobs run; a binding that was removed is asked as
   * if it were there, without settings. To be called while nothing changes. Rejects when it cannot be set up.
   */
  async askDormant(id: string, ask: (data: PersonalData) => Promise<void>): Promise<void> {
    const { parts, records, all } = this
    const [module = '', name = ''] = id.split('/')
    const plugin = this.find(id) ?? records.binding(this.get(module), name, undefined)
    // What runs in a worker keeps no personal data, as that cannot be asked about there.
    if (isolationOf(plugin) === 'worker') return
    const settled = records.withSettings(plugin, await migrate(plugin, parts.isolation))
    const runs = runningOnce(plugin, all)
    const instance = await setUp(settled, { ...parts, isDormant: true, configure: refused }, all)
    try {
      // What runs already is asked where it runs.
      const made = withOnce([instance]).filter((one) => one !== runs?.instance)
      for (const data of made.flatMap(({ personal }) => personal)) await ask(data)
    } finally {
      await instance.scope.dispose()
    }
  }

  /** Has a plugin, and the bindings of a module, go by other settings, and stores these. */
  async #change(plugin: Plugin, change: SettingChange, actor: Actor | undefined): Promise<Plugin> {
    const { id, manifest } = plugin
    if (!manifest || plugin.found.problem) throw conflict(`${id} cannot run: ${plugin.problem}`)
    const refuse = (error: unknown) => Promise.reject(this.refusal(error, id, undefined))
    const had = change.config ? await migrate(plugin, this.parts.isolation).catch(refuse) : plugin.stored
    const stored = changed(had, change, { setting: plugin.setting, version: manifest.version })
    const put = this.records.withBindings(plugin, stored)
    await this.make({ put, rows: new Map([[id, stored]]), actor, news: { set: [id] } })
    return this.get(id)
  }
}

const refused = (): Promise<never> =>
  Promise.reject(conflict('A plugin that is switched off cannot change the configuration.'))

import type { Discovered } from '../../kernel/discovery/manifest.ts'
import type { Plugin } from '../../kernel/plugin/plugin-record.ts'
import type { Registry } from '../../kernel/plugin/registry.ts'
import type { Reloader, Rescan } from '../../kernel/plugin/reloader.ts'
import { conflict, notFound } from '../../kit/errors.ts'
import { explain } from '../../kit/explain.ts'

/** Finds the plugins that there are, outside of the gateway too. */
interface PluginSource {
  /** Looks afresh; `again` names a plugin whose import is to be tried once more if it failed. */
  find(again?: string): Promise<readonly Discovered[]>
  /** Lets go of what was found and not taken. */
  settle(): Promise<void>
}

/** Looks one after the other. */
export class FolderReloader implements Reloader {
  readonly #registry: Registry
  readonly #source: PluginSource
  #work: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(registry: Registry, source: PluginSource) {
    this.#registry = registry
    this.#source = source
  }

  rescan(only?: ReadonlySet<string>): Promise<Rescan> {
    return this.#alone(async () => {
      const result: Rescan = { added: [], changed: [], removed: [], failed: [], unchanged: 0 }
      const all = await this.#source.find()
      const found = only ? all.filter(({ id }) => only.has(id)) : all
      const known = new Map(this.#registry.plugins.map((plugin) => [plugin.id, plugin]))
      const there = new Set(found.map(({ id }) => id))
      for (const id of only ?? known.keys())
        if (known.has(id) && !there.has(id)) await this.#remove(id, result)
      let unchanged = 0
      for (const item of found) {
        const plugin = known.get(item.id)
        if (plugin && isSame(plugin.found, item)) {
          unchanged += 1
          if (plugin.instance) this.#registry.note(plugin.id, undefined)
        } else await this.#install(item, plugin, result)
      }
      return { ...result, unchanged }
    })
  }

  reload(id: string): Promise<{ plugin: Plugin; reloaded: boolean }> {
    return this.#alone(async () => {
      const before = this.#registry.get(id)
      if (before.found.source === 'builtin')
        throw conflict(`${id} is built in; it changes with the gateway.`, { param: 'name' })
      const found = (await this.#source.find(id)).find((item) => item.id === id)
      if (!found) throw notFound(`The folder of ${id} is gone; rescan to remove it.`, { param: 'name' })
      const runs = this.#registry.stateOf(before) === 'active' || !before.setting?.enabled
      if (runs && isSame(before.found, found)) {
        if (before.instance) this.#registry.note(id, undefined)
        return { plugin: before, reloaded: false }
      }
      const plugin = await this.#registry.install(found)
      const state = this.#registry.stateOf(plugin)
      if (state === 'failed' || state === 'invalid')
        throw conflict(`${id} could not be started: ${plugin.problem}`, { param: 'name' })
      return { plugin, reloaded: true }
    })
  }

  settle(): Promise<void> {
    return this.#source.settle()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#work
  }

  async #remove(id: string, result: Rescan): Promise<void> {
    try {
      await this.#registry.remove(id)
      result.removed.push(id)
    } catch (error) {
      this.#registry.note(id, goneProblem)
      result.failed.push({ name: id, problem: `${goneProblem}; ${explain(error)}` })
    }
  }

  async #install(found: Discovered, before: Plugin | undefined, result: Rescan): Promise<void> {
    try {
      const plugin = await this.#registry.install(found)
      const state = this.#registry.stateOf(plugin)
      if (state === 'failed' || state === 'invalid') throw new Error(plugin.problem)
      ;(before ? result.changed : result.added).push(found.id)
    } catch (error) {
      result.failed.push({ name: found.id, problem: explain(error) })
    }
  }

  /** Runs one after the other; what was not taken is let go at the end. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const whileOpen = (): Promise<T> => {
      if (this.#closed) throw conflict('The gateway is stopping; plugins cannot be changed.')
      return work().finally(() => this.settle())
    }
    const result = this.#work.then(whileOpen)
    this.#work = result.catch(() => {})
    return result
  }
}

const goneProblem = 'its folder is gone; it keeps running because other plugins need it'

/** The gateway's own plugins never change while it runs. */
const isSame = (a: Discovered, b: Discovered): boolean =>
  a.source === b.source &&
  a.folder === b.folder &&
  a.problem === b.problem &&
  a.staged?.content === b.staged?.content

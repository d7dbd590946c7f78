import { z } from 'zod'
import type { Collection } from '../storage/index.ts'
import { entryOf, type Placement, placesOf } from './arrangement.ts'
import { badRequest, conflict, isGatewayError, notFound } from './errors.ts'
import { defineEvent, type Events } from './events.ts'
import { type Dispatch, Generation } from './generation.ts'
import { type ContextParts, contextOf, emptyInstance, type Instance } from './instance.ts'
import { load } from './loader.ts'
import { type Actor, refuseLockout } from './lockout.ts'
import { type Discovered, explain, type Manifest } from './manifest.ts'
import { Memory } from './memory.ts'
import { Meter } from './meter.ts'
import type { ModuleDefinition, PluginDefinition } from './plugin.ts'
import { changed, effective, type Setting, type SettingChange, type StoredSetting } from './setting.ts'

export type PluginState = 'active' | 'disabled' | 'waiting' | 'failed' | 'invalid'

/** A plugin as the registry knows it. */
export interface Plugin {
  readonly id: string
  readonly found: Discovered
  readonly manifest: Manifest | undefined
  readonly meter: Meter
  readonly memory: Memory
  stored: StoredSetting | undefined
  setting: Setting | undefined
  definition: ModuleDefinition | PluginDefinition | undefined
  instance: Instance | undefined
  /** Why it does not run, or why the last change was not taken. */
  problem: string | undefined
}

export const ModuleChanged = defineEvent(
  'module.changed',
  z.object({ name: z.string(), enabled: z.boolean(), state: z.string(), generation: z.int() }),
  { description: 'A plugin was toggled or reconfigured.' },
)

/** How long a plugin that was switched off is remembered. */
const memoryMs = 10 * 60_000

interface Parts extends ContextParts {
  readonly events: Events
  readonly settings: Collection<StoredSetting>
  /** What the configuration file says. */
  readonly configured: Readonly<Record<string, SettingChange>>
  readonly dispatch: Dispatch
  /** How long a replaced generation may have calls, in milliseconds. */
  readonly retireMs: number
}

/** All plugins, and the generation made of those that run. Changes happen one at a time, each wholly or not at all. */
export class Registry {
  readonly #parts: Parts
  readonly #plugins = new Map<string, Plugin>()
  #generation: Generation
  #changes: Promise<unknown> = Promise.resolve()

  constructor(parts: Omit<Parts, 'service' | 'current'>) {
    this.#parts = {
      ...parts,
      service: (token) => this.#service(token),
      current: (instance) => this.#plugins.get(instance.id)?.instance === instance,
    }
    this.#generation = new Generation(0, [], [], parts.dispatch, this.#onRetireError)
  }

  get generation(): Generation {
    return this.#generation
  }

  get plugins(): Plugin[] {
    return [...this.#plugins.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** Every module in chain order, those included that do not run. */
  get places(): Placement[] {
    return placesOf(this.#plugins.values())
  }

  /** Throws a not found that says what there is. */
  get(id: string, kind?: Manifest['kind']): Plugin {
    const plugin = this.#plugins.get(id)
    if (plugin && (!kind || plugin.manifest?.kind === kind || !plugin.manifest)) return plugin
    throw notFound(`There is no ${kind ?? 'plugin'} called ${id}.`, { param: 'name' })
  }

  stateOf(plugin: Plugin): PluginState {
    if (plugin.instance) return 'active'
    if (!plugin.manifest || plugin.found.problem) return 'invalid'
    if (!plugin.setting?.enabled) return 'disabled'
    return this.#missing(plugin).length > 0 ? 'waiting' : 'failed'
  }

  /** Takes in what was found and starts what is enabled. Whoever fails is recorded; the rest runs. */
  async start(found: readonly Discovered[]): Promise<void> {
    for (const item of found) this.#plugins.set(item.id, await this.#admit(item))
    const enabled = [...this.#plugins.values()].filter(
      (plugin) => plugin.setting?.enabled && !plugin.found.problem,
    )
    await Promise.all(enabled.map((plugin) => this.#define(plugin).catch(() => {})))
    await this.#startWaiting()
    this.#swap(this.#arranged())
  }

  /**
   * Toggles or reconfigures. Resolves when the change is on disk and every new call runs on it; when it rejects,
   * nothing has changed and what ran before still runs. A change that would shut out its actor is refused.
   */
  change(id: string, change: SettingChange, actor?: Actor): Promise<Plugin> {
    const result = this.#changes.then(() => this.#change(this.get(id), change, actor))
    this.#changes = result.catch(() => {})
    return result
  }

  /** The settings a plugin takes; imports it if need be. Undefined for plugins without code. */
  async schema(plugin: Plugin): Promise<z.ZodType | undefined> {
    if (!plugin.found.entry || plugin.found.problem) return undefined
    return (await this.#define(plugin)).settings
  }

  /** Ends every plugin; calls that still run lose theirs after the deadline. */
  async close(): Promise<void> {
    await this.#changes
    const last = this.#generation
    this.#generation = new Generation(last.number + 1, [], [], this.#parts.dispatch, this.#onRetireError)
    await last.retire(0)
  }

  async #admit(found: Discovered): Promise<Plugin> {
    const { id, manifest } = found
    const stored = manifest && (await this.#parts.settings.get(id))
    const setting = manifest && effective(manifest, this.#parts.configured[id], stored)
    const problem = found.problem
    const other = { memory: new Memory(), meter: new Meter(), definition: undefined, instance: undefined }
    return { id, found, manifest, stored, setting, problem, ...other }
  }

  async #change(plugin: Plugin, change: SettingChange, actor: Actor | undefined): Promise<Plugin> {
    const { id, manifest } = plugin
    if (!manifest || plugin.found.problem) throw conflict(`${id} cannot run: ${plugin.problem}`)
    const stored = changed(plugin.stored, change)
    const setting = effective(manifest, this.#parts.configured[id], stored)
    if (!setting.enabled) this.#refuseIfNeeded(plugin)
    const before = { setting: plugin.setting, instance: plugin.instance }
    plugin.setting = setting
    let next: Generation | undefined
    try {
      const missing = this.#missing(plugin)
      plugin.instance = setting.enabled && missing.length === 0 ? await this.#setup(plugin) : undefined
      if (!setting.enabled) await this.#settingsOf(plugin)
      next = this.#arranged()
      if (actor) refuseLockout(next.chain, actor)
      await this.#parts.settings.put(id, stored)
      plugin.stored = stored
      plugin.problem = missing.length > 0 && setting.enabled ? `waits for ${missing.join(', ')}` : undefined
      this.#swap(next)
    } catch (error) {
      await next?.retire(0)
      if (plugin.instance !== before.instance) await plugin.instance?.scope.dispose()
      Object.assign(plugin, before, { problem: explain(error) })
      throw isGatewayError(error)
        ? error
        : conflict(`${id} could not be started: ${explain(error)}`, { cause: error })
    }
    if (setting.enabled) plugin.memory.keep()
    else plugin.memory.fade(memoryMs)
    if (setting.enabled && (await this.#startWaiting())) this.#swap(this.#arranged())
    const state = this.stateOf(plugin)
    this.#parts.events.emit(ModuleChanged, {
      name: id,
      enabled: setting.enabled,
      state,
      generation: this.#generation.number,
    })
    return plugin
  }

  #refuseIfNeeded({ id }: Plugin): void {
    const dependants = this.plugins.filter((other) => other.instance && other.manifest?.requires.includes(id))
    if (dependants.length > 0) {
      throw conflict(
        `${id} is needed by ${dependants.map((other) => other.id).join(', ')}; disable those first.`,
      )
    }
  }

  async #define(plugin: Plugin): Promise<ModuleDefinition | PluginDefinition> {
    plugin.definition ??= await load(plugin.found.entry!)
    return plugin.definition
  }

  /** The plugin's settings, parsed. Throws a bad request that names the field. */
  async #settingsOf(plugin: Plugin): Promise<unknown> {
    const schema = await this.schema(plugin)
    const parsed = schema?.safeParse(plugin.setting!.config)
    if (parsed && !parsed.success) {
      const path = parsed.error.issues[0]?.path.join('.')
      throw badRequest(`The configuration of ${plugin.id} is not valid: ${explain(parsed.error)}`, {
        param: path ? `config.${path}` : 'config',
      })
    }
    return parsed?.data
  }

  async #setup(plugin: Plugin): Promise<Instance> {
    const instance = emptyInstance(plugin.id)
    try {
      const settings = await this.#settingsOf(plugin)
      if (plugin.found.entry) {
        const { setup } = await this.#define(plugin)
        const { manifest, memory, meter } = plugin
        instance.hooks =
          (await setup(contextOf(this.#parts, manifest!, instance, settings, memory, meter))) ?? {}
      }
      return instance
    } catch (error) {
      await instance.scope.dispose()
      throw error
    }
  }

  /** Starts whoever can start now, until nobody can. */
  async #startWaiting(): Promise<boolean> {
    let any = false
    for (let progress = true; progress; ) {
      progress = false
      for (const plugin of this.#plugins.values()) {
        if (plugin.instance || !plugin.setting?.enabled || plugin.found.problem || this.#tried.has(plugin))
          continue
        const missing = this.#missing(plugin)
        plugin.problem = missing.length > 0 ? `waits for ${missing.join(', ')}` : undefined
        if (missing.length > 0) continue
        this.#tried.add(plugin)
        await this.#begin(plugin)
        any = progress = true
      }
    }
    this.#tried.clear()
    return any
  }

  readonly #tried = new Set<Plugin>()

  async #begin(plugin: Plugin): Promise<void> {
    try {
      plugin.instance = await this.#setup(plugin)
    } catch (error) {
      plugin.problem = explain(error)
      this.#parts.log.error({ plugin: plugin.id, problem: plugin.problem }, 'a plugin could not be started')
    }
  }

  #missing(plugin: Plugin): string[] {
    return (plugin.manifest?.requires ?? []).filter((id) => !this.#plugins.get(id)?.instance)
  }

  #service(token: symbol): unknown {
    for (const { instance } of this.#plugins.values()) {
      if (instance?.services.has(token)) return instance.services.get(token)
    }
    return undefined
  }

  #arranged(): Generation {
    const live = [...this.#plugins.values()].flatMap((plugin) => plugin.instance ?? [])
    const entries = placesOf(this.#plugins.values()).flatMap(({ plugin }) =>
      entryOf(plugin, this.stateOf(plugin)),
    )
    return new Generation(
      this.#generation.number + 1,
      live,
      entries,
      this.#parts.dispatch,
      this.#onRetireError,
    )
  }

  #swap(generation: Generation): void {
    const old = this.#generation
    this.#generation = generation
    void old.retire(this.#parts.retireMs)
  }

  readonly #onRetireError = (error: unknown): void => {
    this.#parts.log.error({ err: error }, 'a plugin could not release everything')
  }
}

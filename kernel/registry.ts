import { z } from 'zod'
import type { Collection } from '../storage/index.ts'
import { entryOf, type Placement, placesOf } from './arrangement.ts'
import { conflict, isGatewayError, notFound } from './errors.ts'
import { defineEvent, type Events } from './events.ts'
import { type Dispatch, Generation, offersOf } from './generation.ts'
import type { ContextParts, Instance } from './instance.ts'
import { type Actor, refuseLockout } from './lockout.ts'
import { type Discovered, explain, type Manifest } from './manifest.ts'
import { Memory } from './memory.ts'
import { Meter } from './meter.ts'
import { type CircuitLimits, ModuleCircuit } from './module-circuit.ts'
import { announced } from './module-events.ts'
import type { Plugin, PluginState } from './plugin-record.ts'
import { missingOf, refuseIfNeeded, startWaiting, stateOf } from './requirements.ts'
import { changed, effective, type SettingChange, type StoredSetting } from './setting.ts'
import { definitionOf, schemaOf, settingsOf, setUp } from './setup.ts'

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
  /** When a module that keeps failing is left out. */
  readonly circuit?: CircuitLimits
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
    return stateOf(plugin, this.#plugins)
  }

  /** Takes in what was found and starts what is enabled. Whoever fails is recorded; the rest runs. */
  async start(found: readonly Discovered[]): Promise<void> {
    for (const item of found) this.#plugins.set(item.id, await this.#admit(item))
    const enabled = [...this.#plugins.values()].filter(
      (plugin) => plugin.setting?.enabled && !plugin.found.problem,
    )
    await Promise.all(enabled.map((plugin) => definitionOf(plugin).catch(() => {})))
    await startWaiting(this.#plugins, (plugin) => this.#begin(plugin))
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
  schema(plugin: Plugin): Promise<z.ZodType | undefined> {
    return schemaOf(plugin)
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
    const meter: Meter = new Meter(
      new ModuleCircuit(this.#parts.circuit, (change) => announced(found, meter, change, this.#parts)),
    )
    const other = { memory: new Memory(), meter, definition: undefined, instance: undefined }
    return { id, found, manifest, stored, setting, problem, ...other }
  }

  async #change(plugin: Plugin, change: SettingChange, actor: Actor | undefined): Promise<Plugin> {
    const { id, manifest } = plugin
    if (!manifest || plugin.found.problem) throw conflict(`${id} cannot run: ${plugin.problem}`)
    const stored = changed(plugin.stored, change)
    const setting = effective(manifest, this.#parts.configured[id], stored)
    if (!setting.enabled) refuseIfNeeded(plugin, this.plugins)
    const before = { setting: plugin.setting, instance: plugin.instance }
    plugin.setting = setting
    let next: Generation | undefined
    try {
      const missing = missingOf(plugin, this.#plugins)
      plugin.instance = setting.enabled && missing.length === 0 ? await setUp(plugin, this.#parts) : undefined
      if (!setting.enabled) await settingsOf(plugin)
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
    if (setting.enabled && (await startWaiting(this.#plugins, (plugin) => this.#begin(plugin))))
      this.#swap(this.#arranged())
    const state = this.stateOf(plugin)
    this.#parts.events.emit(ModuleChanged, {
      name: id,
      enabled: setting.enabled,
      state,
      generation: this.#generation.number,
    })
    return plugin
  }

  async #begin(plugin: Plugin): Promise<void> {
    try {
      plugin.instance = await setUp(plugin, this.#parts)
      offersOf(this.#live)
    } catch (error) {
      await plugin.instance?.scope.dispose()
      plugin.instance = undefined
      plugin.problem = explain(error)
      this.#parts.log.error({ plugin: plugin.id, problem: plugin.problem }, 'a plugin could not be started')
    }
  }

  #service(token: symbol): unknown {
    for (const { instance } of this.#plugins.values()) {
      if (instance?.services.has(token)) return instance.services.get(token)
    }
    return undefined
  }

  get #live(): Instance[] {
    return [...this.#plugins.values()].flatMap((plugin) => plugin.instance ?? [])
  }

  #arranged(): Generation {
    const entries = placesOf(this.#plugins.values()).flatMap(({ plugin }) =>
      entryOf(plugin, this.stateOf(plugin)),
    )
    return new Generation(
      this.#generation.number + 1,
      this.#live,
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

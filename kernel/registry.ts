import { z } from 'zod'
import type { Collection } from '../storage/index.ts'
import { type Arranged, type Placement, placesOf } from './arrangement.ts'
import { conflict, isGatewayError, notFound } from './errors.ts'
import { defineEvent, type Events } from './events.ts'
import { type Generation, offersOf } from './generation.ts'
import type { ContextParts } from './instance.ts'
import { type Actor, refuseLockout } from './lockout.ts'
import { type Discovered, explain, type Manifest } from './manifest.ts'
import { Memory } from './memory.ts'
import { Meter } from './meter.ts'
import { type CircuitLimits, ModuleCircuit } from './module-circuit.ts'
import { announced } from './module-events.ts'
import type { Plugin, PluginState } from './plugin-record.ts'
import { replace } from './replacement.ts'
import { missingOf, refuseIfNeeded, startWaiting, stateOf } from './requirements.ts'
import { Roster, type RosterParts } from './roster.ts'
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
  /** When a module that keeps failing is left out. */
  readonly circuit?: CircuitLimits
}

/** All plugins, and the generation made of those that run. Changes happen one at a time, each wholly or not at all. */
export class Registry {
  readonly #parts: Parts
  readonly #roster: Roster
  readonly #plugins: Map<string, Plugin>
  #changes: Promise<unknown> = Promise.resolve()

  constructor({ dispatch, retireMs, ...parts }: Omit<Parts, 'service' | 'current'> & RosterParts) {
    this.#roster = new Roster({ dispatch, retireMs, log: parts.log })
    this.#plugins = this.#roster.plugins
    this.#parts = {
      ...parts,
      service: (token) => this.#roster.service(token),
      current: (instance) => this.#plugins.get(instance.id)?.instance === instance,
    }
  }

  get generation(): Generation {
    return this.#roster.generation
  }

  get plugins(): Plugin[] {
    return [...this.#plugins.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** Every module in chain order, those included that do not run. */
  get places(): Placement[] {
    return placesOf(this.#plugins.values())
  }

  /** How a generation of this process was arranged; the last fifty are remembered. */
  arrangement(generation: number): readonly Arranged[] | undefined {
    return this.#roster.arrangement(generation)
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
      const next = await this.#admit(found, this.#plugins.get(found.id))
      await replace(this.#roster, this.#parts, next)
      return this.#settled(next)
    })
  }

  /** Stops and forgets a plugin; its settings and what it stored stay. Refused while another one needs it. */
  remove(id: string): Promise<void> {
    return this.#alone(async () => {
      const plugin = this.get(id)
      refuseIfNeeded(plugin, this.plugins)
      this.#plugins.delete(id)
      this.#roster.swap(this.#roster.arranged())
      plugin.release?.()
      this.#tell(id, false, 'removed')
    })
  }

  /** Notes on a plugin why it is not as it should be, without a change to what runs. */
  note(id: string, problem: string | undefined): void {
    this.get(id).problem = problem
  }

  /** The settings a plugin takes; imports it if need be. Undefined for plugins without code. */
  schema(plugin: Plugin): Promise<z.ZodType | undefined> {
    return schemaOf(plugin)
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

  async #admit(found: Discovered, before?: Plugin): Promise<Plugin> {
    const { id, manifest } = found
    const stored = manifest && (await this.#parts.settings.get(id))
    const setting = manifest && effective(manifest, this.#parts.configured[id], stored)
    const problem = found.problem
    const kept = { memory: before?.memory ?? new Memory(), meter: before?.meter ?? this.#meter(found) }
    const release = found.staged?.hold()
    const own = { definition: undefined, instance: undefined, release }
    return { id, found, manifest, stored, setting, problem, ...kept, ...own }
  }

  #meter(found: Discovered): Meter {
    const meter: Meter = new Meter(
      new ModuleCircuit(this.#parts.circuit, (change) =>
        announced(this.#plugins.get(found.id)?.found ?? found, meter, change, this.#parts),
      ),
    )
    return meter
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
      next = this.#roster.arranged()
      if (actor) refuseLockout(next.chain, actor)
      await this.#parts.settings.put(id, stored)
      plugin.stored = stored
      plugin.problem = missing.length > 0 && setting.enabled ? `waits for ${missing.join(', ')}` : undefined
      this.#roster.swap(next)
    } catch (error) {
      await next?.retire(0)
      if (plugin.instance !== before.instance) await plugin.instance?.scope.dispose()
      Object.assign(plugin, before, { problem: explain(error) })
      throw isGatewayError(error)
        ? error
        : conflict(`${id} could not be started: ${explain(error)}`, { cause: error })
    }
    return this.#settled(plugin)
  }

  /** What follows a change that was made: what is remembered, who waited for it, who wants to know. */
  async #settled(plugin: Plugin): Promise<Plugin> {
    const enabled = plugin.setting?.enabled ?? false
    if (enabled) plugin.memory.keep()
    else plugin.memory.fade(memoryMs)
    if (enabled && (await startWaiting(this.#plugins, (plugin) => this.#begin(plugin))))
      this.#roster.swap(this.#roster.arranged())
    this.#tell(plugin.id, enabled, this.stateOf(plugin))
    return plugin
  }

  #tell(name: string, enabled: boolean, state: string): void {
    this.#parts.events.emit(ModuleChanged, { name, enabled, state, generation: this.generation.number })
  }

  async #begin(plugin: Plugin): Promise<void> {
    try {
      plugin.instance = await setUp(plugin, this.#parts)
      offersOf(this.#roster.live)
    } catch (error) {
      await plugin.instance?.scope.dispose()
      plugin.instance = undefined
      plugin.problem = explain(error)
      this.#parts.log.error({ plugin: plugin.id, problem: plugin.problem }, 'a plugin could not be started')
    }
  }
}

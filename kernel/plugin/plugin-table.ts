import type { z } from 'zod'
import { notFound } from '../../kit/errors.ts'
import { nearest } from '../../kit/text/nearest.ts'
import { detach } from '../../kit/work/contain.ts'
import type { Manifest } from '../discovery/manifest.ts'
import { type Arranged, arrangedOf, entryOf, type Placement, placesOf, providersOf } from './arrangement.ts'
import { Generation } from './generation.ts'
import { goLive, type Instance } from './instance.ts'
import { withOnce } from './once.ts'
import { bindingId, type Plugin, type PluginState, type Plugins, stateOf } from './plugin-record.ts'
import { type SetupParts, schemaOf } from './setup.ts'

/** The parts that a table is made with. */
export interface TableParts extends Pick<SetupParts, 'log' | 'isolation' | 'shadow'> {
  /** How long a replaced generation may have calls, in milliseconds. */
  readonly retireMs: number
}

/** Arrangements that are remembered. */
const remembered = 50

/** The instances of all that run. */
export const liveOf = (plugins: Plugins): Instance[] =>
  [...plugins.values()].flatMap((plugin) => plugin.instance ?? [])

/** The plugins and bindings there are, by id, and the generation made of those that run. */
export class PluginTable {
  readonly #parts: TableParts
  readonly #history = new Map<number, readonly Arranged[]>()
  #all: Plugins = new Map()
  #generation: Generation

  constructor(parts: TableParts) {
    this.#parts = parts
    this.#generation = this.arrange(0, this.#all)
  }

  get generation(): Generation {
    return this.#generation
  }

  /** In the order of their ids, without bindings. */
  get plugins(): Plugin[] {
    return this.#sorted(({ binding }) => !binding)
  }

  /** The bindings of a module, in the order of their names. */
  bindings(module: string): Plugin[] {
    return this.#sorted(({ binding }) => binding?.module === module)
  }

  /** A binding of a module; throws a not found. */
  binding(module: string, name: string): Plugin {
    const found = this.find(bindingId(this.get(module, 'module').id, name))
    if (found) return found
    throw notFound(`${module} has no binding called ${name}.`, { param: 'binding' })
  }

  /** Every module and binding in chain order, those included that do not run. */
  get places(): Placement[] {
    return placesOf(this.#all.values())
  }

  /** How a generation of this process was arranged; the last fifty are remembered. */
  arrangement(generation: number): readonly Arranged[] | undefined {
    return this.#history.get(generation)
  }

  /** A plugin or a binding, if it is there. */
  find(id: string): Plugin | undefined {
    return this.#all.get(id)
  }

  /** Throws a not found that says what there is. */
  get(id: string, kind?: Manifest['kind']): Plugin {
    const plugin = this.find(id)
    const isKind = !kind || ((plugin?.manifest?.kind === kind || !plugin?.manifest) && !plugin?.binding)
    if (plugin && isKind) return plugin
    const named = this.plugins.filter(({ manifest }) => !kind || manifest?.kind === kind)
    const [near] = nearest(
      id,
      named.map((one) => one.id),
    )
    const hint = near === undefined ? '' : ` The nearest is ${near}.`
    throw notFound(`There is no ${kind ?? 'plugin'} called ${id}.${hint}`, { param: 'name' })
  }

  stateOf(plugin: Plugin): PluginState {
    return stateOf(plugin, this.#all)
  }

  /** The settings a plugin takes; imports it if need be. Undefined for plugins without code. */
  schema(plugin: Plugin): Promise<z.ZodType | undefined> {
    return schemaOf(plugin, this.#parts.isolation)
  }

  protected get all(): Plugins {
    return this.#all
  }

  /** From here on these are the plugins, and every new call runs on this generation; calls that run keep theirs. */
  protected swap(plugins: Plugins, generation: Generation): void {
    const old = this.#generation
    this.#all = plugins
    this.#generation = generation
    const places = this.places.map((place) => arrangedOf(place, this.stateOf(place.plugin)))
    this.#history.set(generation.number, places)
    this.#history.delete(generation.number - remembered)
    for (const instance of withOnce(liveOf(plugins))) goLive(instance)
    detach('the end of a generation', old.retire(this.#parts.retireMs))
  }

  /** Ends everything; calls that still run lose theirs. */
  protected async end(): Promise<void> {
    const last = this.#generation
    this.#generation = this.arrange(last.number + 1, new Map())
    await last.retire(0)
  }

  /** A generation made of these. Throws when two of them claim the same thing. */
  protected arrange(number: number, plugins: Plugins): Generation {
    const entries = placesOf(plugins.values()).flatMap(({ plugin }) =>
      entryOf(plugin, stateOf(plugin, plugins), this.#parts.shadow),
    )
    const failed = (err: unknown): void =>
      this.#parts.log.error({ err }, 'a plugin could not release everything')
    return new Generation(number, liveOf(plugins), entries, providersOf(plugins.values()), failed)
  }

  #sorted(which: (plugin: Plugin) => boolean): Plugin[] {
    return [...this.#all.values()].filter(which).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }
}

import type { z } from 'zod'
import { notFound } from '../errors.ts'
import { bindingId } from './admission.ts'
import { type Arranged, type Placement, placesOf } from './arrangement.ts'
import type { Generation } from './generation.ts'
import type { Isolation } from './isolation.ts'
import type { Manifest } from './manifest.ts'
import type { Plugin, PluginState } from './plugin-record.ts'
import { stateOf } from './requirements.ts'
import type { Roster } from './roster.ts'
import { schemaOf } from './setup.ts'

/** What there is of plugins, to look at. */
export class Inventory {
  readonly #roster: Roster
  readonly #isolation: Isolation
  readonly #plugins: ReadonlyMap<string, Plugin>

  constructor(roster: Roster, isolation: Isolation) {
    this.#roster = roster
    this.#isolation = isolation
    this.#plugins = roster.plugins
  }

  get generation(): Generation {
    return this.#roster.generation
  }

  /** In the order of their ids, without bindings. */
  get plugins(): Plugin[] {
    const plugins = [...this.#plugins.values()].filter(({ binding }) => !binding)
    return plugins.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** The bindings of a module, in the order of their names. */
  bindings(module: string): Plugin[] {
    const bindings = [...this.#plugins.values()].filter(({ binding }) => binding?.module === module)
    return bindings.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** A binding of a module; throws a not found. */
  binding(module: string, name: string): Plugin {
    const found = this.#plugins.get(bindingId(this.get(module, 'module').id, name))
    if (found) return found
    throw notFound(`${module} has no binding called ${name}.`, { param: 'binding' })
  }

  /** Every module and binding in chain order, those included that do not run. */
  get places(): Placement[] {
    return placesOf(this.#plugins.values())
  }

  /** How a generation of this process was arranged; the last fifty are remembered. */
  arrangement(generation: number): readonly Arranged[] | undefined {
    return this.#roster.arrangement(generation)
  }

  /** A plugin or a binding, if it is there. */
  find(id: string): Plugin | undefined {
    return this.#plugins.get(id)
  }

  /** Throws a not found that says what there is. */
  get(id: string, kind?: Manifest['kind']): Plugin {
    const plugin = this.#plugins.get(id)
    const isKind = !kind || ((plugin?.manifest?.kind === kind || !plugin?.manifest) && !plugin?.binding)
    if (plugin && isKind) return plugin
    throw notFound(`There is no ${kind ?? 'plugin'} called ${id}.`, { param: 'name' })
  }

  stateOf(plugin: Plugin): PluginState {
    return stateOf(plugin, this.#plugins)
  }

  /** The settings a plugin takes; imports it if need be. Undefined for plugins without code. */
  schema(plugin: Plugin): Promise<z.ZodType | undefined> {
    return schemaOf(plugin, this.#isolation)
  }
}

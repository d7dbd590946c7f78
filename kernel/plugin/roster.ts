import { detach } from '../contain.ts'
import type { Token } from '../container.ts'
import type { Log } from '../log.ts'
import { type Arranged, arrangedOf, entryOf, placesOf, providersOf } from './arrangement.ts'
import { Generation } from './generation.ts'
import type { Instance } from './instance.ts'
import type { Plugin } from './plugin-record.ts'
import { stateOf } from './requirements.ts'

/** How generations are made and left. */
export interface RosterParts {
  readonly log: Log
  /** How long a replaced generation may have calls, in milliseconds. */
  readonly retireMs: number
  /** Number of the first generation; 1 by default. */
  readonly firstNumber?: number
}

/** Arrangements that are remembered. */
const remembered = 50

/** The plugins there are, by id, and the generation made of those that run. */
export class Roster {
  readonly plugins = new Map<string, Plugin>()
  readonly #parts: RosterParts
  readonly #history = new Map<number, readonly Arranged[]>()
  #generation: Generation

  constructor(parts: RosterParts) {
    this.#parts = parts
    this.#generation = this.#empty((parts.firstNumber ?? 1) - 1)
  }

  get generation(): Generation {
    return this.#generation
  }

  get live(): Instance[] {
    return [...this.plugins.values()].flatMap((plugin) => plugin.instance ?? [])
  }

  /** A service that some live plugin offers. */
  service(token: Token<unknown>): unknown {
    const { services } = this.#generation
    return services.get(token) ?? this.live.find(({ services }) => services.has(token))?.services.get(token)
  }

  /** The next generation, of whatever runs now. Throws when two plugins claim the same thing. */
  arranged(): Generation {
    const entries = placesOf(this.plugins.values()).flatMap(({ plugin }) =>
      entryOf(plugin, stateOf(plugin, this.plugins)),
    )
    const providers = providersOf(this.plugins.values())
    return new Generation(this.#generation.number + 1, this.live, entries, providers, this.#onRetireError)
  }

  /** From here on every new call runs on this generation; calls that run keep theirs until the deadline. */
  swap(generation: Generation): void {
    const old = this.#generation
    this.#generation = generation
    this.#remember(generation.number)
    detach('the end of a generation', old.retire(this.#parts.retireMs))
  }

  /** How a generation was arranged; undefined when that was too many changes ago. */
  arrangement(generation: number): readonly Arranged[] | undefined {
    return this.#history.get(generation)
  }

  #remember(generation: number): void {
    const places = placesOf(this.plugins.values())
    this.#history.set(
      generation,
      places.map((place) => arrangedOf(place, stateOf(place.plugin, this.plugins))),
    )
    this.#history.delete(generation - remembered)
  }

  /** Ends everything; calls that still run lose theirs. */
  async close(): Promise<void> {
    const last = this.#generation
    this.#generation = this.#empty(last.number + 1)
    await last.retire(0)
  }

  #empty(number: number): Generation {
    return new Generation(number, [], [], new Map(), this.#onRetireError)
  }

  readonly #onRetireError = (error: unknown): void => {
    this.#parts.log.error({ err: error }, 'a plugin could not release everything')
  }
}

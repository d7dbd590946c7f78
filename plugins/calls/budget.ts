import { type Counters, HookFault, type Outcome } from '#kernel'
import { nanoOf, usdOf } from '#kit'

/** Nano-dollars by plugin. */
export interface Reservations {
  /** The costs that calls under way may still have. */
  readonly reserved: Map<string, number>
  /** The most expensive call so far: the assumed cost of the next one if none is given. */
  readonly dearest: Map<string, number>
}

export const noReservations = (): Reservations => ({ reserved: new Map(), dearest: new Map() })

/** The budgets of plugins for calls that they make for themselves: so much a day each, in UTC. */
export class Budgets {
  /** The spending of plugins, by day and plugin, in nano-dollars. */
  readonly #spent: Counters
  readonly #reserved: Map<string, number>
  readonly #dearest: Map<string, number>

  constructor(spent: Counters, { reserved, dearest }: Reservations) {
    this.#spent = spent
    this.#reserved = reserved
    this.#dearest = dearest
  }

  /** Sets apart what a call may cost; throws when there is not so much left. Returns what gives it back. */
  reserve(plugin: string, usdPerDay: number, budgetUsd: number | undefined): () => void {
    const reserved = this.#reserved.get(plugin) ?? 0
    const wanted = budgetUsd === undefined ? (this.#dearest.get(plugin) ?? 0) : nanoOf(budgetUsd)
    const spent = this.#spent.get(nameOf(plugin))
    const budget = nanoOf(usdPerDay)
    if (spent >= budget || spent + reserved + wanted > budget) {
      throw new HookFault(
        `${plugin} has used $${usdOf(spent)} of the $${usdPerDay} a day that its manifest asks for model calls, and ` +
          'the rest is not enough for another',
      )
    }
    this.#reserved.set(plugin, reserved + wanted)
    return () => this.#reserved.set(plugin, (this.#reserved.get(plugin) ?? 0) - wanted)
  }

  /** Counts what a call has cost as far as that is known; throws when it is not, or not all of it. */
  charge(plugin: string, { cost, usage, provider, model }: Outcome): void {
    const nano = cost?.totalNano ?? 0
    if (nano > (this.#dearest.get(plugin) ?? 0)) this.#dearest.set(plugin, nano)
    if (nano > 0) this.#spent.add(nameOf(plugin), nano)
    if (cost ? cost.unpriced === undefined : usage.input + usage.output === 0) return
    const place = `${provider}/${model}`
    const lacking = cost ? `a model that was asked on the way to ${place}` : place
    throw new HookFault(
      `${lacking} has no price, so the budget of ${plugin} cannot apply to it: set one under ` +
        'prices in service.yaml, 0 if it costs nothing',
    )
  }
}

/** By day, in UTC. */
const nameOf = (plugin: string): string => `${new Date().toISOString().slice(0, 10)} ${plugin}`

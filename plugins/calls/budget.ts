import { type Budget, type Claim, type Counters, HookFault, type Outcome } from '#kernel'
import { nanoOf, usdOf } from '#kit'

/** What is set apart for a call. */
export interface Reserved {
  readonly id: string
  /** What the call has cost, in nano-dollars, as far as that is known. */
  nano: number
}

interface Parts {
  /** Counts the spending of plugins, over all threads. */
  readonly budget: () => Budget
  /** The most expensive call of each day and plugin, in nano-dollars: the assumed cost of the next one if none is given. */
  readonly dearest: Counters
}

/** The budgets of plugins for calls that they make for themselves: so much a day each, in UTC, over all threads. */
export class Budgets {
  readonly #budget: () => Budget
  readonly #dearest: Counters

  constructor({ budget, dearest }: Parts) {
    this.#budget = budget
    this.#dearest = dearest
  }

  /** Sets apart what a call may cost; rejects when there is not so much left. `release` must follow. */
  async reserve(plugin: string, usdPerDay: number, budgetUsd: number | undefined): Promise<Reserved> {
    const wanted = budgetUsd === undefined ? this.#dearest.get(nameOf(plugin)) : nanoOf(budgetUsd)
    // One that may cost nothing, too, needs that something is left.
    const answer = await this.#budget().reserve([spendingOf(plugin, nanoOf(usdPerDay), Math.max(1, wanted))])
    if (answer.granted) return { id: answer.id, nano: 0 }
    const { used } = answer.left[0]!
    throw new HookFault(
      `${plugin} has used or set apart $${usdOf(used)} of the $${usdPerDay} a day that its manifest asks for model ` +
        'calls, and the rest is not enough for another',
    )
  }

  /** Notes what a call has cost as far as that is known; throws when it is not, or not all of it. */
  charge(plugin: string, reserved: Reserved, { cost, usage, provider, model }: Outcome): void {
    const nano = cost?.totalNano ?? 0
    if (nano > this.#dearest.get(nameOf(plugin))) this.#dearest.set(nameOf(plugin), nano)
    reserved.nano = nano
    if (cost ? cost.unpriced === undefined : usage.input + usage.output === 0) return
    const place = `${provider}/${model}`
    const lacking = cost ? `a model that was asked on the way to ${place}` : place
    throw new HookFault(
      `${lacking} has no price, so the budget of ${plugin} cannot apply to it: set one under ` +
        'prices in service.yaml, 0 if it costs nothing',
    )
  }

  /** Lets what a call has cost take the place of what was set apart for it. */
  async release({ id, nano }: Reserved): Promise<void> {
    await this.#budget().settle({ id }, { nano })
  }
}

/** What a plugin spends in a day, in UTC. */
export const spendingOf = (plugin: string, most: number, amount: number): Claim => ({
  name: plugin,
  unit: 'nano',
  limit: { kind: 'day', most, timezone: 'UTC' },
  amount,
})

/** By day, in UTC. */
export const nameOf = (plugin: string): string => `${new Date().toISOString().slice(0, 10)} ${plugin}`

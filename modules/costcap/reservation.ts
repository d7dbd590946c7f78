import type { Attempt, Spend } from '#kernel'
import { Reservation as Amounts } from '#kit'
import type { Decision } from './decision.ts'
import { refusedBy } from './refusal.ts'

const nothing = { nano: 0, model: undefined, ownKey: false }

/** All that is set apart for one call under its caps. */
export class Reservation {
  readonly #first: Decision
  readonly #spend: () => Spend
  readonly #amounts: Amounts<'nano'>

  constructor(first: Decision, spend: () => Spend) {
    this.#first = first
    this.#spend = spend
    this.#amounts = new Amounts({ nano: first.answer.nano }, (to, from) => this.#extend(to.nano - from.nano))
  }

  /** Sets apart what an attempt may cost beyond what there is; rejects when a cap has no room for it. */
  enter(attempt: Attempt, estimate: () => number): Promise<void> | undefined {
    const { answer, claim, target } = this.#first
    if (claim.caps.length === 0) return undefined
    const isFirst = `${attempt.provider}/${attempt.model}` === target
    return this.#amounts.enter(attempt, () => ({ nano: isFirst ? answer.nano : estimate() }))
  }

  /** Lets the real cost take the place of all that was set apart. */
  settle(used: Parameters<Spend['settle']>[2]): Promise<void> {
    const { claim, answer } = this.#first
    return this.#amounts.settle(() => this.#spend().settle(claim, answer, used))
  }

  async #extend(nano: number) {
    const { by, caps, leaseMs } = this.#first.claim
    const claim = { by, caps, leaseMs, nano }
    const answer = await this.#spend().reserve(claim)
    const { granted, standings, refusedBy: at } = answer
    if (!granted) throw refusedBy(standings[at!]!, nano)
    return () => this.#spend().settle(claim, answer, nothing)
  }
}

import type { Attempt, Spend, SpendAnswer, SpendClaim } from '#kernel'
import type { Decision } from './decision.ts'
import { refusedBy } from './refusal.ts'

interface More {
  readonly claim: SpendClaim
  readonly answer: Promise<SpendAnswer>
}

/**
 * All that is set apart for one call: before it is sent the cost of one attempt, and more when its attempts can cost more together, as
 * in races and after a fallback to a dearer model. What a failed attempt was to cost is there for the next one.
 */
export class Reservation {
  readonly #first: Decision
  readonly #spend: () => Spend
  readonly #more: More[] = []
  readonly #entered = new Map<object, { readonly attempt: Attempt; readonly nano: number }>()
  #total: number
  #isSettled = false

  constructor(first: Decision, spend: () => Spend) {
    this.#first = first
    this.#spend = spend
    this.#total = first.answer.nano
  }

  /** Sets apart what an attempt may cost beyond what there is; rejects when a cap has no room for it. */
  enter(attempt: Attempt, estimate: () => number): Promise<void> | undefined {
    const { answer, claim, target } = this.#first
    if (this.#isSettled || claim.caps.length === 0) return undefined
    const nano = `${attempt.provider}/${attempt.model}` === target ? answer.nano : estimate()
    let needed = nano
    for (const other of this.#entered.values()) if (!other.attempt.error) needed += other.nano
    this.#entered.set(attempt.identity, { attempt, nano })
    return needed > this.#total ? this.#extend(attempt, needed - this.#total) : undefined
  }

  /** Lets the real cost take the place of all that was set apart. */
  async settle(used: Parameters<Spend['settle']>[2]): Promise<void> {
    this.#isSettled = true
    const spend = this.#spend()
    await spend.settle(this.#first.claim, this.#first.answer, used)
    for (const { claim, answer } of this.#more) {
      // What could not be set apart has refused the attempt.
      const there = await answer.catch(() => undefined)
      if (there?.granted) await spend.settle(claim, there, { nano: 0, model: undefined, ownKey: false })
    }
  }

  async #extend(attempt: Attempt, nano: number): Promise<void> {
    const { by, caps, leaseMs } = this.#first.claim
    const claim = { by, caps, leaseMs, nano }
    this.#total += nano
    const answer = Promise.resolve(this.#spend().reserve(claim))
    this.#more.push({ claim, answer })
    try {
      const { granted, standings, refusedBy: at } = await answer
      if (!granted) throw refusedBy(standings[at!]!, nano)
    } catch (error) {
      this.#total -= nano
      this.#entered.delete(attempt.identity)
      throw error
    }
  }
}

import type { Attempt } from '../../kernel/call/attempt.ts'
import type { Awaitable } from '../work/continue-with.ts'

/** What attempts may use, by unit. */
type Amounts<U extends string> = Readonly<Record<U, number>>

/**
 * Sets more apart for a call: all that `to` has beyond `from`. Resolves with what gives that back; rejects where there is no room
 * for it.
 */
type Extend<U extends string> = (to: Amounts<U>, from: Amounts<U>) => Promise<() => Awaitable<unknown>>

/**
 * All that is set apart for one call: before it is sent what one attempt may use, and more when its attempts can use more together, as
 * in races and after a fallback to a dearer model. What a failed attempt was to use is there for the next one.
 */
export class Reservation<U extends string> {
  readonly #extend: Extend<U>
  readonly #more: Promise<() => Awaitable<unknown>>[] = []
  readonly #entered = new Map<object, { readonly attempt: Attempt; readonly amounts: Amounts<U> }>()
  #total: Amounts<U>
  #isSettled = false

  constructor(first: Amounts<U>, extend: Extend<U>) {
    this.#total = first
    this.#extend = extend
  }

  /** Sets apart what an attempt may use beyond what there is; rejects when there is no room for it. */
  enter(attempt: Attempt, estimate: () => Awaitable<Amounts<U>>): Promise<void> | undefined {
    if (this.#isSettled) return undefined
    const amounts = estimate()
    return amounts instanceof Promise
      ? amounts.then((late) => this.#enter(attempt, late))
      : this.#enter(attempt, amounts)
  }

  /** Lets what was really used, which `settle` counts, take the place of all that was set apart. */
  async settle(settle: () => Awaitable<unknown>): Promise<void> {
    this.#isSettled = true
    await settle()
    for (const more of this.#more) {
      // What could not be set apart has refused the attempt.
      const giveBack = await more.catch(() => undefined)
      await giveBack?.()
    }
  }

  #enter(attempt: Attempt, amounts: Amounts<U>): Promise<void> | undefined {
    if (this.#isSettled) return undefined
    let needed = amounts
    for (const other of this.#entered.values())
      if (!other.attempt.error) needed = eachOf(needed, other.amounts, (one, more) => one + more)
    this.#entered.set(attempt.identity, { attempt, amounts })
    const total = eachOf(this.#total, needed, Math.max)
    const more = eachOf(total, this.#total, (to, from) => to - from)
    return Object.values<number>(more).some((amount) => amount > 0) ? this.#raise(attempt, more) : undefined
  }

  async #raise(attempt: Attempt, more: Amounts<U>): Promise<void> {
    const from = this.#total
    this.#total = eachOf(from, more, (one, other) => one + other)
    const extended = this.#extend(this.#total, from)
    this.#more.push(extended)
    try {
      await extended
    } catch (error) {
      this.#total = eachOf(this.#total, more, (one, other) => one - other)
      this.#entered.delete(attempt.identity)
      throw error
    }
  }
}

/** Amounts of the same units, each made of two. */
const eachOf = <U extends string>(
  one: Amounts<U>,
  other: Amounts<U>,
  make: (one: number, other: number) => number,
): Amounts<U> => {
  const made: Record<string, number> = {}
  for (const unit in one) made[unit] = make(one[unit], other[unit])
  return made as Amounts<U>
}

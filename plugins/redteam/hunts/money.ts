import { nanoOf, usdOf } from '#kit'

/** The campaign has cost what it may, or nothing that is left to try fits in what remains. */
export class BudgetOver extends Error {}

/** Money set apart for one call. */
export interface Share {
  /** Undefined where nothing bounds the cost. */
  readonly maxCostUsd: number | undefined
  /** Ends the claim with what the call has cost. */
  settle(nano: number): void
  /** Ends the claim of a call that was not sent because it could cost more. Throws `BudgetOver` when nothing larger is left. */
  tooSmall(): void
}

/** Of a budget, the part that a call is given first. */
const firstShare = 50

/**
 * The money of a campaign. Each call gets a share, above which nothing of it is sent, and the shares of calls under way never add up to
 * more than is left: the budget holds however many go on at a time. A share that is too small grows.
 */
export class Money {
  readonly #most: number
  #spent: number
  #reserved = 0
  #share: number
  #settled = Promise.withResolvers<void>()

  /** Both in nano-dollars; infinite without a bound. */
  constructor(most: number, spent: number) {
    this.#most = most
    this.#spent = spent
    this.#share = Math.max(1, Math.ceil(most / firstShare))
  }

  static of(maxCostUsd: number | null, spentNano: number): Money {
    return new Money(maxCostUsd === null ? Number.POSITIVE_INFINITY : nanoOf(maxCostUsd), spentNano)
  }

  /** Resolves when a call may begin; rejects with `BudgetOver`, or with the reason of the signal. */
  async claim(signal: AbortSignal): Promise<Share> {
    if (this.#most === Number.POSITIVE_INFINITY) return unbounded
    for (;;) {
      signal.throwIfAborted()
      const left = this.#most - this.#spent - this.#reserved
      if (left >= this.#share) return this.#take(this.#share)
      if (this.#reserved === 0) {
        if (left <= 0) throw new BudgetOver('The campaign has cost what it may')
        return this.#take(left)
      }
      await this.#settled.promise
    }
  }

  #take(nano: number): Share {
    this.#reserved += nano
    const release = (spent: number): void => {
      this.#reserved -= nano
      this.#spent += spent
      this.#settled.resolve()
      this.#settled = Promise.withResolvers()
    }
    return {
      maxCostUsd: usdOf(nano),
      settle: release,
      tooSmall: () => {
        release(0)
        this.#share = Math.max(this.#share, 2 * nano)
        if (nano >= this.#most - this.#spent) throw new BudgetOver('No attack fits in what is left')
      },
    }
  }
}

const unbounded: Share = { maxCostUsd: undefined, settle: () => {}, tooSmall: () => {} }

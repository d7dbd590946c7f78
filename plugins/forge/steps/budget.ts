/** Ends a run whose calls have cost what they may. */
export class BudgetExceeded extends Error {}

/** Ends the claim on a budget of a call that cost so much, in nano-dollars. */
export type Settle = (nano: number) => void

/**
 * The budget of a run. A call begins while the sum of what was spent, and of what those under way will probably cost, leaves
 * room for it: as much each as the dearest one so far, so the first one goes alone. So the run goes above its limit by one call.
 */
export class Budget {
  readonly #most: number
  #spent: number
  #dearest = 0
  #underWay = 0
  #settled = Promise.withResolvers<void>()

  /** Both in nano-dollars. */
  constructor(most: number, spent: number) {
    this.#most = most
    this.#spent = spent
  }

  /** Resolves when a call may begin; rejects with `BudgetExceeded`, or with the reason of the signal. */
  async claim(signal: AbortSignal): Promise<Settle> {
    for (;;) {
      signal.throwIfAborted()
      if (this.#spent >= this.#most) throw new BudgetExceeded('The run has cost what it may')
      if (this.#underWay === 0 || this.#hasRoom()) break
      await this.#settled.promise
    }
    this.#underWay += 1
    return (nano) => {
      this.#underWay -= 1
      this.#spent += nano
      this.#dearest = Math.max(this.#dearest, nano)
      this.#settled.resolve()
      this.#settled = Promise.withResolvers()
    }
  }

  #hasRoom(): boolean {
    if (this.#most === Number.POSITIVE_INFINITY) return true
    return this.#dearest > 0 && this.#spent + (this.#underWay + 1) * this.#dearest <= this.#most
  }
}

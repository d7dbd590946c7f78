import { ensure } from '../ensure.ts'

/** Ends work whose calls have cost what they may. */
export class BudgetExceeded extends Error {}

/** Ends the claim of a call that cost so much, in nano-dollars; whether it was answered tells what calls of its kind cost. */
export type SettleClaim = (nano: number, wasAnswered?: boolean) => void

/** Calls of one kind. */
interface Kind {
  underWay: number
  /** The dearest so far, in nano-dollars; undefined while none has ended. */
  dearest: number | undefined
}

/**
 * What calls of one piece of work may cost together, such as those of a run. A call begins while the sum of what was spent, and of
 * what those under way will probably cost, leaves room for it: as much each as the dearest of its kind so far, so the first
 * one of a kind goes alone. So the work goes above its limit by one call.
 */
export class CallBudget {
  readonly #most: number
  readonly #kinds = new Map<string, Kind>()
  #spent: number
  #underWay = 0
  #settled = Promise.withResolvers<void>()

  /** Both in nano-dollars. */
  constructor(most: number, spent: number) {
    this.#most = most
    this.#spent = spent
  }

  /**
   * Resolves when a call may begin; rejects with `BudgetExceeded`, or with the reason of the signal. Calls of one kind cost about
   * the same, such as those that ask one model.
   */
  async claim(signal: AbortSignal, kindName = ''): Promise<SettleClaim> {
    const kind = ensure(this.#kinds, kindName, () => ({ underWay: 0, dearest: undefined }) as Kind)
    for (;;) {
      signal.throwIfAborted()
      if (this.#spent >= this.#most) throw new BudgetExceeded('The calls have cost what they may')
      if (this.#underWay === 0 || this.#hasRoom(kind)) break
      await this.#settled.promise
    }
    this.#underWay += 1
    kind.underWay += 1
    return (nano, wasAnswered = false) => {
      this.#underWay -= 1
      kind.underWay -= 1
      this.#spent += nano
      if (nano > 0 || wasAnswered) kind.dearest = Math.max(kind.dearest ?? 0, nano)
      this.#settled.resolve()
      this.#settled = Promise.withResolvers()
    }
  }

  #hasRoom({ dearest }: Kind): boolean {
    if (this.#most === Number.POSITIVE_INFINITY) return true
    if (dearest === undefined) return false
    let expected = this.#spent + dearest
    for (const { underWay, dearest = 0 } of this.#kinds.values()) expected += underWay * dearest
    return expected <= this.#most
  }
}

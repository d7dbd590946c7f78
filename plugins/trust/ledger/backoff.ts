/** Chances that are let pass at most, before the next is taken. */
const mostPassed = 64

/** Takes fewer and fewer chances while these are in vain: after each that was, it lets twice as many pass. */
export class Backoff {
  #passed = 0
  #toPass = 0

  /** Whether to take this chance. */
  takes(): boolean {
    if (this.#toPass === 0) return true
    this.#toPass -= 1
    return false
  }

  /** What came of one that was taken. */
  ended(isOfUse: boolean): void {
    this.#passed = isOfUse ? 0 : Math.min(mostPassed, Math.max(1, 2 * this.#passed))
    this.#toPass = this.#passed
  }
}

/** Money that several calls at a time may spend: each sets the most that it can cost apart before it is made. */
export class Budget {
  readonly #most: number
  #taken: number

  /** Nano-dollars. */
  constructor(most: number, spent: number) {
    this.#most = most
    this.#taken = spent
  }

  /** Spent, and set apart. */
  get taken(): number {
    return this.#taken
  }

  /** Sets so much apart; false when there is not so much left. */
  take(nano: number): boolean {
    if (this.#taken + nano > this.#most) return false
    this.#taken += nano
    return true
  }

  /** Gives back what was set apart and not used. */
  settle(held: number, used: number): void {
    this.#taken += used - held
  }
}

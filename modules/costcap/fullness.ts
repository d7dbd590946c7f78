import type { Cap, CapStanding } from '#kernel'
import { capShare } from '#kit'

/** How full the caps of a call are, as far as that is known. They only fill up while it is decided where the call goes. */
export class Fullness {
  readonly #caps: readonly Cap[]
  readonly #shares: number[]
  #standings: readonly CapStanding[] = []

  constructor(caps: readonly Cap[]) {
    this.#caps = caps
    this.#shares = caps.map(() => 0)
  }

  /** Takes in how the caps stand, in their order. */
  raise(standings: readonly CapStanding[]): void {
    this.#standings = standings
    for (const [i, one] of standings.entries())
      this.#shares[i] = Math.max(this.#shares[i] ?? 0, capShare(one))
  }

  /** The share of the fullest cap. */
  get share(): number {
    return Math.max(0, ...this.#shares)
  }

  /** The caps that are reached and ask for a cheaper model. */
  get reached(): CapStanding[] {
    return this.#standings.filter(({ cap: { action } }, i) => action === 'downgrade' && this.#shares[i]! >= 1)
  }

  /** For each cap the share from which the call would go elsewhere: `step` for all of them, or where one is reached that asks for it. */
  below(step: number | undefined): (number | undefined)[] | undefined {
    const below = this.#caps.map(({ action }, i) =>
      action === 'downgrade' && this.#shares[i]! < 1 ? Math.min(1, step ?? 1) : step,
    )
    return below.some((share) => share !== undefined) ? below : undefined
  }
}

/** One bucket that is so many times over the bound is enough; else it takes two in a row. */
const atOnce = 1.5

/** Tells when a figure that is looked at in every bucket rises, once until it has been back below the bound. */
export class Rise {
  #wasAbove = false
  #isTold = false

  /** Takes in the score of a bucket; undefined for one that says nothing, which changes nothing. */
  rises(score: number | undefined, bound: number): boolean {
    if (score === undefined) return false
    const isAbove = score >= bound
    const rises = isAbove && !this.#isTold && (this.#wasAbove || score >= atOnce * bound)
    this.#wasAbove = isAbove
    if (rises) this.#isTold = true
    if (!isAbove) this.#isTold = false
    return rises
  }
}

import { z } from 'zod'

/** Standard deviations to each side that hold 95 % of a normal distribution. */
const z95 = 1.959964
const deviations: ReadonlyMap<number, number> = new Map([
  [0.8, 1.281552],
  [0.9, 1.644854],
  [0.95, z95],
  [0.98, 2.326348],
  [0.99, 2.575829],
])

/** An estimate with its interval of 95 % confidence; nulls where there is too little to say. */
export const estimate = z.object({
  value: z.number().nullable(),
  low: z.number().nullable(),
  high: z.number().nullable(),
})
export type Estimate = z.infer<typeof estimate>

/** Numbers as they come, of which the mean and its interval are wanted. Sums by Welford's method, which loses no digits. */
export class Mean {
  count = 0
  #mean = 0
  #squares = 0

  add(value: number): void {
    this.count += 1
    const before = value - this.#mean
    this.#mean += before / this.count
    this.#squares += before * (value - this.#mean)
  }

  /** By the distribution of Student (1908): from two numbers on. */
  get estimate(): Estimate {
    if (this.count === 0) return { value: null, low: null, high: null }
    if (this.count === 1) return { value: this.#mean, low: null, high: null }
    const margin = wideness95(this.count - 1) * Math.sqrt(this.#squares / (this.count - 1) / this.count)
    return { value: this.#mean, low: this.#mean - margin, high: this.#mean + margin }
  }
}

/**
 * Standard errors to each side that hold 95 % of Student's distribution with this many degrees of freedom: exact for one and two,
 * and otherwise by its expansion (Abramowitz and Stegun 1964, 26.7.5), to two decimals.
 */
export function wideness95(freedom: number): number {
  if (freedom === 1) return Math.tan(0.475 * Math.PI)
  if (freedom === 2) return 0.95 * Math.sqrt(2 / (1 - 0.95 ** 2))
  const z = z95
  return (
    z +
    (z ** 3 + z) / (4 * freedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3) +
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / (92_160 * freedom ** 4)
  )
}

/**
 * A share of hits, with the interval of Wilson (1927), which also holds for few tries and for shares near 0 and 1. Tries may count in
 * part: numbers between 0 and 1 vary no more than hits and misses of the same mean, so it is never too narrow for them. The
 * confidence is 0.8, 0.9, 0.95, 0.98 or 0.99.
 */
export function shareOf(hits: number, tries: number, confidence = 0.95): Estimate {
  if (tries === 0) return { value: null, low: null, high: null }
  const z = deviations.get(confidence)!
  const share = hits / tries
  const square = z ** 2 / tries
  const middle = (share + square / 2) / (1 + square)
  const margin = (z / (1 + square)) * Math.sqrt((share * (1 - share)) / tries + square / (4 * tries))
  return { value: share, low: Math.max(0, middle - margin), high: Math.min(1, middle + margin) }
}

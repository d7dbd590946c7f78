import { z } from 'zod'

/** Standard deviations to each side that hold 95 % of a normal distribution. */
const z95 = 1.959964

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

  /** By the normal approximation: from two numbers on. */
  get estimate(): Estimate {
    if (this.count === 0) return { value: null, low: null, high: null }
    if (this.count === 1) return { value: this.#mean, low: null, high: null }
    const margin = z95 * Math.sqrt(this.#squares / (this.count - 1) / this.count)
    return { value: this.#mean, low: this.#mean - margin, high: this.#mean + margin }
  }
}

/** A share of hits, with the interval of Wilson (1927), which also holds for few tries and for shares near 0 and 1. */
export function shareOf(hits: number, tries: number): Estimate {
  if (tries === 0) return { value: null, low: null, high: null }
  const share = hits / tries
  const square = z95 ** 2 / tries
  const middle = (share + square / 2) / (1 + square)
  const margin = (z95 / (1 + square)) * Math.sqrt((share * (1 - share)) / tries + square / (4 * tries))
  return { value: share, low: Math.max(0, middle - margin), high: Math.min(1, middle + margin) }
}

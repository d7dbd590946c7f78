/** Standard deviations to each side that hold so much of a normal distribution. */
const deviations: ReadonlyMap<number, number> = new Map([
  [0.8, 1.281552],
  [0.9, 1.644854],
  [0.95, 1.959964],
  [0.98, 2.326348],
  [0.99, 2.575829],
])

export interface Interval {
  readonly low: number
  readonly high: number
}

/**
 * The interval of a share by Wilson (1927), which also holds for few tries and for shares near 0 and 1. Tries may count in part:
 * numbers between 0 and 1 vary no more than hits and misses of the same mean, so it is never too narrow for them.
 */
export function wilson(hits: number, tries: number, confidence: number): Interval {
  if (tries === 0) return { low: 0, high: 1 }
  const z = deviations.get(confidence)!
  const share = hits / tries
  const square = z ** 2 / tries
  const middle = (share + square / 2) / (1 + square)
  const margin = (z / (1 + square)) * Math.sqrt((share * (1 - share)) / tries + square / (4 * tries))
  return { low: Math.max(0, middle - margin), high: Math.min(1, middle + margin) }
}

import { z } from 'zod'

/** Bins of a baseline: numbers by bounds, words by name. */
export const binsSchema = z.union([
  z.strictObject({ bounds: z.array(z.number()).max(10) }),
  z.strictObject({ words: z.array(z.string()).max(10) }),
])
export type Bins = z.infer<typeof binsSchema>

const quantiles = [0.2, 0.4, 0.6, 0.8]
const mostWords = 4

/** Bins with about as many of these numbers in each, five of them, or fewer where many numbers are the same. */
export function binsOfNumbers(values: readonly number[]): Bins {
  const sorted = values.toSorted((a, b) => a - b)
  const bounds = quantiles.map((share) => sorted[Math.floor(share * (sorted.length - 1))]!)
  // Below the least number nothing has come yet: without this bin, values that fall would go unseen where all are the same.
  const lowest = bounds[0] === sorted[0] ? [beneath(sorted[0]!)] : []
  return { bounds: [...new Set([...lowest, ...bounds])] }
}

/** A bin for each of the most frequent words, and one for all others. */
export function binsOfWords(values: readonly string[]): Bins {
  const counts = [...Map.groupBy(values, (word) => word)].sort((a, b) => b[1].length - a[1].length)
  return { words: counts.slice(0, mostWords).map(([word]) => word) }
}

export const countOf = (bins: Bins): number => ('bounds' in bins ? bins.bounds.length : bins.words.length) + 1

/** The bin that a value falls into. */
export function binOf(bins: Bins, value: number | string): number {
  if ('bounds' in bins) {
    const bin = bins.bounds.findIndex((bound) => (value as number) <= bound)
    return bin === -1 ? bins.bounds.length : bin
  }
  const bin = bins.words.indexOf(value as string)
  return bin === -1 ? bins.words.length : bin
}

const beneath = (value: number): number => value - Math.max(1e-9, Math.abs(value) * 1e-9)

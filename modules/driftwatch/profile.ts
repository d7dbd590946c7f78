import { z } from 'zod'
import { isNumeric, type Metric } from './answer.ts'
import { type Bins, binOf, binsOfNumbers, binsOfWords, binsSchema, countOf } from './bins.ts'

/** What answers were like by one metric. */
export const profileSchema = z.strictObject({
  bins: binsSchema,
  counts: z.array(z.int().min(0)).max(11),
  /** The median, or the share of the word that counts. */
  usual: z.number(),
})
export type Profile = z.infer<typeof profileSchema>

/** The word whose share is shown; of languages it is the most frequent one. */
const counted: Partial<Record<Metric, string>> = { refusal_rate: 'refused', json_validity: 'valid' }

/** The profile of a sample. */
export function profileOf(metric: Metric, sample: readonly (number | string)[]): Profile {
  const bins = isNumeric(metric) ? binsOfNumbers(sample as number[]) : binsOfWords(sample as string[])
  return { bins, counts: countsOf(bins, sample), usual: figureOf(metric, bins, sample) }
}

/** How many values of a sample fall into each bin. */
export function countsOf(bins: Bins, sample: readonly (number | string)[]): number[] {
  const counts = new Array<number>(countOf(bins)).fill(0)
  for (const value of sample) counts[binOf(bins, value)]! += 1
  return counts
}

/** One figure for a sample: its median, or the share of the word that counts. */
export function figureOf(metric: Metric, bins: Bins, sample: readonly (number | string)[]): number {
  if ('bounds' in bins) return (sample as number[]).toSorted((a, b) => a - b)[sample.length >> 1]!
  const word = counted[metric] ?? bins.words[0]
  return sample.filter((value) => value === word).length / sample.length
}

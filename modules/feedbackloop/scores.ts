import { z } from 'zod'
import type { FeedbackRecord } from '#kernel'

export const groupings = ['model', 'template', 'variant'] as const

type Grouping = (typeof groupings)[number]

/** The feedback of one model, template or variant. */
export const groupScore = z.object({
  name: z.string(),
  count: z.int().meta({ description: 'Ratings.' }),
  mean: z.number().nullable().meta({ description: 'The mean score, from 0 to 1.' }),
  low: z.int().meta({ description: 'Ratings that are low enough for a review.' }),
  labels: z.record(z.string(), z.int()).meta({ description: 'How often each label was given.' }),
})

interface Sum {
  count: number
  total: number
  low: number
  readonly labels: Map<string, number>
}

/** Sums up feedback by what was called, the most rated first. */
export async function sumUp(
  all: AsyncIterable<FeedbackRecord>,
  by: Grouping,
  lowest: number,
): Promise<z.infer<typeof groupScore>[]> {
  const sums = new Map<string, Sum>()
  for await (const said of all) {
    const name = nameIn(said, by)
    if (name === undefined) continue
    const sum = sums.get(name) ?? { count: 0, total: 0, low: 0, labels: new Map<string, number>() }
    sums.set(name, sum)
    if (said.label !== undefined) sum.labels.set(said.label, (sum.labels.get(said.label) ?? 0) + 1)
    if (said.score === undefined) continue
    sum.count += 1
    sum.total += said.score
    if (said.score <= lowest) sum.low += 1
  }
  return [...sums]
    .map(([name, { count, total, low, labels }]) => ({
      name,
      count,
      mean: count === 0 ? null : total / count,
      low,
      labels: Object.fromEntries(labels),
    }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
}

function nameIn({ provider, model, template, variant }: FeedbackRecord, by: Grouping): string | undefined {
  if (by === 'template') return template
  if (by === 'variant') return variant
  return provider === undefined ? model : `${provider}/${model}`
}

import { z } from 'zod'
import { usdOf } from '#kit'
import type { Row, Side } from './row.ts'

const number = z.number().nullable()
const both = z.object({ source: number, mirror: number })

/** The comparisons of one model with one target, summed up. */
export const summary = z.object({
  model: z.string().meta({ description: 'The provider and model that answered.' }),
  target: z.string(),
  compared: z.int(),
  failed: z.int(),
  similarity: number.meta({ description: 'The mean.' }),
  length_ratio: number.meta({ description: 'The median.' }),
  structure: z.object({ same: z.int(), different: z.int() }),
  cost_usd: both.meta({ description: 'Sums of the compared calls whose prices are known on both sides.' }),
  latency_ms: z.object({ p50: both, p95: both }),
})

type Summary = z.infer<typeof summary>

/** Comparisons that a report is made of: all of a month of calls would not fit into memory. */
export const mostSummed = 50_000

/** Sums up the first comparisons by model and target, in the order of their names. */
export async function summarise(rows: AsyncIterable<Row>): Promise<Summary[]> {
  const groups = new Map<string, Row[]>()
  let left = mostSummed
  for await (const row of rows) {
    if (left === 0) break
    left -= 1
    const key = JSON.stringify([nameOf(row.source), row.target])
    const group = groups.get(key)
    if (group) group.push(row)
    else groups.set(key, [row])
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => summaryOf(group))
}

function summaryOf(rows: readonly Row[]): Summary {
  const [first] = rows
  const compared = rows.filter((row) => row.similarity !== undefined)
  const priced = compared.filter(
    ({ source, mirror }) => source.cost_nano !== undefined && mirror?.cost_nano !== undefined,
  )
  const of = (read: (side: Side) => number, from = compared) => ({
    source: from.map(({ source }) => read(source)),
    mirror: from.map(({ mirror }) => read(mirror!)),
  })
  const costs = of(({ cost_nano = 0 }) => cost_nano, priced)
  const times = of(({ latency_ms }) => latency_ms)
  const at = (share: number) => ({
    source: quantile(times.source, share),
    mirror: quantile(times.mirror, share),
  })
  const said = (structure: Row['structure']) => compared.filter((row) => row.structure === structure).length
  return {
    model: nameOf(first!.source),
    target: first!.target,
    compared: compared.length,
    failed: rows.length - compared.length,
    similarity:
      compared.length === 0 ? null : sum(compared.map(({ similarity = 0 }) => similarity)) / compared.length,
    length_ratio: quantile(
      compared.flatMap(({ length_ratio }) => length_ratio ?? []),
      0.5,
    ),
    structure: { same: said('same'), different: said('different') },
    cost_usd: {
      source: priced.length === 0 ? null : usdOf(sum(costs.source)),
      mirror: priced.length === 0 ? null : usdOf(sum(costs.mirror)),
    },
    latency_ms: { p50: at(0.5), p95: at(0.95) },
  }
}

const nameOf = ({ provider = '', model = '' }: Side): string => `${provider}/${model}`

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

/** The smallest value that is at least as large as this share of them; null of none. */
function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
}

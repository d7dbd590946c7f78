import type { Family } from './families.ts'

/** Series of one metric; further ones are left out and counted. */
const mostSeries = 5000

/** Of a histogram: the number in each bucket, the one without a bound last, and behind it their sum. */
type Buckets = number[]

/** Sums by metric and by labels as they are written. Plain data, so that it crosses threads and outlives code. */
export interface Sums {
  readonly counters: Map<string, Map<string, number>>
  readonly histograms: Map<string, Map<string, Buckets>>
  leftOut: number
}

export const emptySums = (): Sums => ({ counters: new Map(), histograms: new Map(), leftOut: 0 })

/** Adds to a counter. Amounts are never negative. */
export function add(sums: Sums, { name }: Family, labels: string, amount: number): void {
  const series = seriesOf(sums.counters, name)
  const sum = series.get(labels)
  if (sum === undefined && series.size >= mostSeries) sums.leftOut += 1
  else series.set(labels, (sum ?? 0) + amount)
}

/** Counts a value in its bucket of a histogram. */
export function observe(sums: Sums, { name, bounds = [] }: Family, labels: string, value: number): void {
  const buckets = bucketsOf(sums, name, labels, bounds.length + 2)
  if (!buckets) return
  let at = 0
  while (at < bounds.length && value > bounds[at]!) at += 1
  buckets[at]! += 1
  buckets[bounds.length + 1]! += value
}

/** Adds all of `part` to `sums`. */
export function merge(sums: Sums, part: Sums): void {
  for (const [name, series] of part.counters)
    for (const [labels, amount] of series) add(sums, { name } as Family, labels, amount)
  for (const [name, series] of part.histograms)
    for (const [labels, amounts] of series) {
      const buckets = bucketsOf(sums, name, labels, amounts.length)
      if (buckets) for (let i = 0; i < amounts.length; i += 1) buckets[i]! += amounts[i]!
    }
  sums.leftOut += part.leftOut
}

/** Takes everything out, into sums of its own. */
export function take(sums: Sums): Sums {
  const taken = { ...sums, counters: new Map(sums.counters), histograms: new Map(sums.histograms) }
  sums.counters.clear()
  sums.histograms.clear()
  sums.leftOut = 0
  return taken
}

function bucketsOf(sums: Sums, name: string, labels: string, length: number): Buckets | undefined {
  const series = seriesOf(sums.histograms, name)
  let buckets = series.get(labels)
  if (buckets) return buckets
  if (series.size >= mostSeries) {
    sums.leftOut += 1
    return undefined
  }
  buckets = Array<number>(length).fill(0)
  series.set(labels, buckets)
  return buckets
}

function seriesOf<T>(all: Map<string, Map<string, T>>, name: string): Map<string, T> {
  let series = all.get(name)
  if (!series) {
    series = new Map()
    all.set(name, series)
  }
  return series
}

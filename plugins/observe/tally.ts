import { bucketOf, quantile } from './histogram.ts'
import type { TraceRow } from './row.ts'

/** Whole numbers that add up: what a cell of the roll-up holds. */
export type Totals = Readonly<Record<string, number>>

const bucketPrefix = 'us_'

/** Sums end where whole numbers do. */
const most = Number.MAX_SAFE_INTEGER

/** The amounts that a trace adds to a sum over traces. Zeros are left out. */
export function totalsOf(row: TraceRow): Record<string, number> {
  const totals: Record<string, number> = { requests: 1 }
  if (row.status === 'error' || row.status === 'timeout') totals.errors = 1
  if (row.status === 'cache_hit') totals.cache_hits = 1
  if (row.cost?.total_nano) {
    totals.cost_nano = row.cost.total_nano
    if (row.own_key) totals.own_key_nano = row.cost.total_nano
  }
  if (isUnpriced(row)) totals.unpriced = 1
  if (row.saved_nano) totals.saved_nano = row.saved_nano
  if (row.saved_by_autopilot_nano) totals.saved_by_autopilot_nano = row.saved_by_autopilot_nano
  if (row.usage.input) totals.tokens_in = row.usage.input
  if (row.usage.output) totals.tokens_out = row.usage.output
  if (row.usage.cachedRead) totals.tokens_cached = row.usage.cachedRead
  if (row.usage.reasoning) totals.tokens_reasoning = row.usage.reasoning
  return totals
}

/** Whether tokens were used that have no price, so that the call cost more than is known. What no provider answered costs nothing. */
function isUnpriced({ cost, usage, provider, cache, source }: TraceRow): boolean {
  if (cost) return cost.unpriced !== undefined
  const isAnswered = !cache && (provider !== undefined || source === 'manual')
  return isAnswered && usage.input + usage.output > 0
}

/** The same with the latency: its sum, and its place in the histogram. */
export function timedTotalsOf(row: TraceRow): Record<string, number> {
  const totals = totalsOf(row)
  totals.latency_us = row.latency_us
  totals[bucketPrefix + bucketOf(row.latency_us)] = 1
  return totals
}

/** A sum of cells. */
export class Tally {
  readonly #sums: Record<string, number> = {}

  add(totals: Totals): this {
    for (const name in totals) {
      const sum = (this.#sums[name] ?? 0) + totals[name]!
      this.#sums[name] = Math.max(-most, Math.min(sum, most))
    }
    return this
  }

  merge(other: Tally): this {
    return this.add(other.#sums)
  }

  /** Takes away a part of it. */
  less(part: Tally): this {
    return this.add(Object.fromEntries(Object.entries(part.#sums).map(([name, sum]) => [name, -sum])))
  }

  get(name: string): number {
    return this.#sums[name] ?? 0
  }

  /** The sum of one figure for each request. */
  perRequest(name: string): number {
    const requests = this.get('requests')
    return requests === 0 ? 0 : this.get(name) / requests
  }

  /** In milliseconds; of cells with latencies. */
  latencyQuantile(share: number): number {
    const counts = new Map<number, number>()
    for (const name in this.#sums) {
      if (name.startsWith(bucketPrefix))
        counts.set(Number(name.slice(bucketPrefix.length)), this.#sums[name]!)
    }
    return quantile(counts, share) / 1000
  }
}

/** How many calls of a sum cost more than it says, where some do. */
export function unpricedIn(tally: Tally | undefined): { readonly unpriced?: number } {
  const unpriced = tally?.get('unpriced') ?? 0
  return unpriced === 0 ? {} : { unpriced }
}

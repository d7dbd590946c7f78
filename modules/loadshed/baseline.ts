/**
 * The latency of calls of one kind while nothing waits, in milliseconds: the lowest median of a group of calls. A single fast
 * call therefore does not make all others look slow. Plain data.
 */
export interface Baseline {
  best: number | undefined
  latest: number[]
  group: number
}

/** Calls of the first group, and of the largest: of many groups, the lowest median would be a stray one if they were small. */
const [firstGroup, largestGroup] = [10, 80]

export const newBaseline = (): Baseline => ({ best: undefined, latest: [], group: firstGroup })

/** How many times the best latency this one is; 1 while there is none to compare with. */
export function compare(baseline: Baseline, ms: number): number {
  baseline.latest.push(ms)
  if (baseline.latest.length >= baseline.group) {
    baseline.best = Math.min(baseline.best ?? Number.POSITIVE_INFINITY, medianOf(baseline.latest))
    baseline.latest = []
    baseline.group = Math.min(largestGroup, baseline.group * 2)
  }
  return baseline.best === undefined ? 1 : ms / baseline.best
}

/** Of a list that is not empty. */
export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

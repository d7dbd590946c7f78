import { bucketOf, middleOf } from '#kit'
import type { Metric } from './metrics.ts'

/** Parts of a window: a value leaves it at most one part late, and never early. */
export const parts = 60

const perMinuteMs = 60_000

/** What a window says of a metric. */
export interface Reading {
  /** Values in the window. */
  readonly samples: number
  /** In the metric's own unit; undefined when it has none without samples. */
  readonly value: number | undefined
}

/** The values of one group in a sliding window. Times are milliseconds since the epoch, in any order. */
export class Window {
  readonly #metric: Metric
  readonly #windowMs: number
  /** The newest part, counted from the epoch. */
  newest: number
  readonly #counts = new Float64Array(parts)
  /** The sum of each part; of a metric that takes the most, the most. */
  readonly #amounts = new Float64Array(parts)
  /** For quantiles: how many values are in each bucket, of each part and in all. */
  readonly #buckets: readonly Map<number, number>[]
  readonly #all = new Map<number, number>()
  #count = 0
  #sum = 0

  constructor(metric: Metric, windowMs: number, at: number) {
    this.#metric = metric
    this.#windowMs = windowMs
    this.newest = partOf(at, windowMs)
    const isQuantile = metric.kind === 'quantile'
    this.#buckets = Array.from({ length: isQuantile ? parts : 0 }, () => new Map())
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** Adds a value of 0 or more; one that is older than the window changes nothing. */
  add(at: number, value: number): void {
    const part = partOf(at, this.#windowMs)
    if (part > this.newest) this.#advance(part)
    if (part <= this.newest - parts) return
    const place = placeOf(part)
    this.#counts[place]! += 1
    this.#count += 1
    if (this.#metric.kind === 'most') this.#amounts[place] = Math.max(this.#amounts[place]!, value)
    else {
      this.#amounts[place]! += value
      this.#sum += value
    }
    const buckets = this.#buckets[place]
    if (!buckets) return
    const bucket = bucketOf(value)
    for (const map of [buckets, this.#all]) map.set(bucket, (map.get(bucket) ?? 0) + 1)
  }

  /** The metric now. Sums of an empty window are 0, and other metrics have no value. */
  read(now: number): Reading {
    const part = partOf(now, this.#windowMs)
    // The clock was set back by more than the window: what it holds lies in the future.
    if (part <= this.newest - parts) this.#clear(part)
    else if (part > this.newest) this.#advance(part)
    const value = this.#combined()
    return { samples: this.#count, value: value === undefined ? undefined : value * this.#metric.scale }
  }

  #combined(): number | undefined {
    const metric = this.#metric
    if (metric.kind === 'sum') return this.#sum
    if (metric.kind === 'per_minute') return (this.#sum * perMinuteMs) / this.#windowMs
    if (this.#count === 0) return undefined
    if (metric.kind === 'mean') return this.#sum / this.#count
    return metric.kind === 'quantile' ? this.#quantile(metric.share) : Math.max(...this.#amounts)
  }

  #quantile(share: number): number | undefined {
    const wanted = Math.max(1, Math.ceil(share * this.#count))
    let seen = 0
    for (const [bucket, count] of [...this.#all].sort(([a], [b]) => a - b)) {
      seen += count
      if (seen >= wanted) return middleOf(bucket)
    }
    return undefined
  }

  #advance(to: number): void {
    if (to - this.newest >= parts) this.#clear(to)
    for (let part = this.newest + 1; part <= to; part += 1) this.#empty(placeOf(part))
    this.newest = to
  }

  #clear(newest: number): void {
    for (let place = 0; place < parts; place += 1) this.#empty(place)
    this.newest = newest
  }

  #empty(place: number): void {
    const count = this.#counts[place]!
    if (count === 0) return
    this.#count -= count
    if (this.#metric.kind !== 'most') this.#sum -= this.#amounts[place]!
    this.#counts[place] = 0
    this.#amounts[place] = 0
    const buckets = this.#buckets[place]
    if (!buckets) return
    for (const [bucket, gone] of buckets) {
      const left = this.#all.get(bucket)! - gone
      if (left > 0) this.#all.set(bucket, left)
      else this.#all.delete(bucket)
    }
    buckets.clear()
  }
}

/** What a group says that has no window. */
export const emptyReading = ({ kind }: Metric): Reading => ({
  samples: 0,
  value: kind === 'sum' || kind === 'per_minute' ? 0 : undefined,
})

/** The part of a window of this length that a moment lies in. */
export const partOf = (at: number, windowMs: number): number => Math.floor((at * parts) / windowMs)

const placeOf = (part: number): number => part % parts

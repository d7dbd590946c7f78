import { z } from 'zod'
import type { AnomalyDimension } from '#kernel'
import type { Limits } from './observation.ts'
import { Rise } from './rise.ts'
import { packedSeries, Series, type SeriesOptions } from './series.ts'

/** Calls are counted over so long. */
export const bucketMs = 300_000
const bucketMinutes = bucketMs / 60_000

export const packedRates = z.strictObject({ requests: packedSeries, errors: packedSeries })

/** Four weeks of buckets. */
const memory = 8192
const requestOptions: SeriesOptions = { memory, tails: true, onlySeasonal: true }
/** An outage is never usual, however many there were. */
const errorOptions: SeriesOptions = { memory, tails: false, onlySeasonal: false }
/** A rate of fewer calls is none. */
const enoughCalls = 20
/** Buckets with a rate of errors before it is judged: an hour of them. */
const errorWarmup = 12
/** More is not unusual before it is so many times what is usual: a great many calls vary little. */
const leastFactor = 2
const leastErrors = 5
const mostTraces = 10

/** A rate that rose. */
export interface RateFinding {
  readonly metric: 'request_rate' | 'error_rate'
  readonly expected: number
  readonly actual: number
  readonly score: number
  readonly method: AnomalyDimension['method']
  readonly traces: readonly string[]
}

/**
 * How many calls come in five minutes, and which share of them fails. Both are counts, whose noise depends on their size; after a
 * root (Anscombe's) and an arc sine it does not, so that spreads mean the same at night and at noon.
 */
export class Rates {
  readonly #requests: Series
  readonly #errors: Series
  readonly #moreRequests = new Rise()
  readonly #moreErrors = new Rise()
  #calls = 0
  #asked = 0
  #failed = 0
  #traces: string[] = []
  #failedTraces: string[] = []

  constructor(kept?: z.infer<typeof packedRates>) {
    this.#requests = kept ? Series.unpack(kept.requests, requestOptions) : new Series(requestOptions)
    this.#errors = kept ? Series.unpack(kept.errors, errorOptions) : new Series(errorOptions)
  }

  /** Counts a call; `failed` is undefined where it says nothing of that. */
  count(trace: string, failed: boolean | undefined): void {
    this.#calls += 1
    if (this.#traces.length < mostTraces) this.#traces.push(trace)
    if (failed === undefined) return
    this.#asked += 1
    if (!failed) return
    this.#failed += 1
    if (this.#failedTraces.length < mostTraces) this.#failedTraces.push(trace)
  }

  /** Judges and learns the bucket around this time, and begins the next; without limits it only learns. */
  close(at: number, limits: Limits | undefined): RateFinding[] {
    const found = [this.#closeRequests(at, limits), this.#closeErrors(at, limits)]
    this.forget()
    return found.filter((one) => one !== undefined)
  }

  /** Begins a bucket, without what was counted so far. */
  forget(): void {
    this.#calls = 0
    this.#asked = 0
    this.#failed = 0
    this.#traces = []
    this.#failedTraces = []
  }

  pack(): z.infer<typeof packedRates> {
    return { requests: this.#requests.pack(), errors: this.#errors.pack() }
  }

  #closeRequests(at: number, limits: Limits | undefined): RateFinding | undefined {
    const series = this.#requests
    const warmup = limits?.warmup ?? 0
    const value = 2 * Math.sqrt(this.#calls + 3 / 8)
    const score = limits && series.score(at, value, 1, warmup)
    const expected = Math.max(0, (series.expected(at, warmup) / 2) ** 2 - 3 / 8)
    const isMore = this.#calls >= leastFactor * expected
    const rises = limits && this.#moreRequests.rises(isMore ? score : score && Math.min(0, score), limits.z)
    series.add(at, value)
    if (!rises) return undefined
    return {
      metric: 'request_rate',
      expected: expected / bucketMinutes,
      actual: this.#calls / bucketMinutes,
      score: score!,
      method: 'seasonal median/MAD',
      traces: this.#traces,
    }
  }

  #closeErrors(at: number, limits: Limits | undefined): RateFinding | undefined {
    if (this.#asked < enoughCalls) return undefined
    const series = this.#errors
    const value = 2 * Math.asin(Math.sqrt((this.#failed + 3 / 8) / (this.#asked + 3 / 4)))
    const score = limits && series.score(at, value, 1 / Math.sqrt(this.#asked), errorWarmup)
    const usual = series.expected(at, errorWarmup)
    const expected = Math.max(
      0,
      Math.sin(usual / 2) ** 2 * (1 + 3 / (4 * this.#asked)) - 3 / (8 * this.#asked),
    )
    const actual = this.#failed / this.#asked
    const isMore = this.#failed >= leastErrors && actual >= leastFactor * expected
    const rises = limits && this.#moreErrors.rises(isMore ? score : score && Math.min(0, score), limits.z)
    const method = series.methodAt(at, errorWarmup)
    series.add(at, value)
    if (!rises) return undefined
    return {
      metric: 'error_rate',
      expected,
      actual,
      score: score!,
      method,
      traces: this.#failedTraces,
    }
  }
}

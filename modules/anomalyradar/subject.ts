import { z } from 'zod'
import type { AnomalyDimension } from '#kernel'
import type { Learner } from '#kit'
import { callMetrics, type Limits, type Observation } from './observation.ts'
import { packedRates, Rates } from './rates.ts'
import { packedSeries, Series, type SeriesOptions } from './series.ts'

export const packedSubject = z.strictObject({
  by: z.enum(['model', 'user']),
  provider: z.string().optional(),
  name: z.string(),
  calls: z.int().min(0),
  perCall: z.array(packedSeries).length(callMetrics.length),
  rates: packedRates,
})
export type PackedSubject = z.infer<typeof packedSubject>

/** Calls that a model or a user is judged by; the hundredth part of them is what is rare. */
const perCallOptions: SeriesOptions = { memory: 2048, tails: true, onlySeasonal: false }

/** On logarithms: at the usual 4 spreads a call has 2.7 times the usual figure at the least, however even the others were. */
const leastSpread = 0.25

/** A model or a user whose calls are compared with those before. */
export class Subject implements Learner<PackedSubject> {
  readonly by: 'model' | 'user'
  readonly provider: string | undefined
  readonly name: string
  readonly rates: Rates
  calls = 0
  lastAt = 0
  version = 0
  readonly #perCall: readonly Series[]

  constructor({ by, provider, name }: Pick<PackedSubject, 'by' | 'provider' | 'name'>, kept?: PackedSubject) {
    this.by = by
    this.provider = provider
    this.name = name
    this.calls = kept?.calls ?? 0
    this.#perCall = callMetrics.map((_, i) =>
      kept ? Series.unpack(kept.perCall[i]!, perCallOptions) : new Series(perCallOptions),
    )
    this.rates = new Rates(kept?.rates)
  }

  /** Learns a call, and adds to `found` what of it is unusual. */
  learn({ trace, at, failed, values, limits }: Observation, found: AnomalyDimension[]): void {
    this.calls += 1
    this.lastAt = at
    this.version += 1
    this.rates.count(trace, failed)
    if (!values) return
    const bound = boundOf(limits.z, this.calls)
    for (let i = 0; i < callMetrics.length; i += 1) {
      const value = values[i]!
      if (!(value > 0)) continue
      const series = this.#perCall[i]!
      const log = Math.log(value)
      const score = series.score(at, log, leastSpread, limits.warmup)
      if (score !== undefined && score >= bound && !(i === 0 && value < limits.minLatencyMs))
        found.push(this.#dimension(i, value, score, at, limits))
      series.add(at, log)
    }
  }

  pack(): PackedSubject {
    const { by, provider, name, calls } = this
    return {
      by,
      ...(provider !== undefined && { provider }),
      name,
      calls,
      perCall: this.#perCall.map((series) => series.pack()),
      rates: this.rates.pack(),
    }
  }

  #dimension(i: number, actual: number, score: number, at: number, { warmup }: Limits): AnomalyDimension {
    const series = this.#perCall[i]!
    return {
      metric: callMetrics[i]!,
      by: this.by,
      expected: Math.exp(series.expected(at, warmup)),
      actual,
      score,
      method: series.methodAt(at, warmup),
    }
  }
}

/**
 * Spreads at which a call is unusual: `z` for the first thousand calls of a model or a user, and slowly more after that. Of a
 * million calls some lie four spreads away by chance, and hardly any lies five.
 */
const boundOf = (z: number, calls: number): number =>
  Math.max(z, (z / 4) * Math.sqrt(2 * Math.log(callMetrics.length * calls)))

import { z } from 'zod'
import { Histogram, type HistogramOptions, packedHistogram } from './histogram.ts'
import { packedSeason, Season, type Usual } from './season.ts'

export const packedSeries = z.strictObject({
  all: packedHistogram.optional(),
  day: packedHistogram.optional(),
  week: packedHistogram.optional(),
  season: packedSeason,
})
export type PackedSeries = z.infer<typeof packedSeries>

export interface SeriesOptions extends HistogramOptions {
  /** Whether nothing can be said before the hours are known, as of how many calls come. */
  readonly onlySeasonal: boolean
}

/**
 * What is usual for one figure. Values are compared with the hour of the week once that is known, by what is left when the hour is
 * taken away, and before that with all values.
 */
export class Series {
  readonly #options: SeriesOptions
  #season = new Season()
  #all: Histogram | undefined
  /** Of what is left of values when their hour of the day is taken away. */
  #day: Histogram | undefined
  /** The same for the hour of the week, which leaves less. */
  #week: Histogram | undefined

  constructor(options: SeriesOptions) {
    this.#options = options
    if (!options.onlySeasonal) this.#all = new Histogram(options)
  }

  /**
   * By how many spreads a value lies above what is usual; negative below it, and undefined while fewer than `warmup` values are
   * known. `noise` is a spread that is usual at the least.
   */
  score(at: number, value: number, noise: number, warmup: number): number | undefined {
    const usual = this.#season.usualAt(at)
    const known = this.#known(usual, warmup)
    if (!known) return undefined
    return (value - this.#middle(known, usual)) / Math.max(noise, known.spread)
  }

  /** The usual value; NaN while fewer than `warmup` are known. */
  expected(at: number, warmup: number): number {
    const usual = this.#season.usualAt(at)
    const known = this.#known(usual, warmup)
    return known ? this.#middle(known, usual) : Number.NaN
  }

  methodAt(at: number, warmup: number): 'median/MAD' | 'seasonal median/MAD' {
    const known = this.#known(this.#season.usualAt(at), warmup)
    return known && known !== this.#all ? 'seasonal median/MAD' : 'median/MAD'
  }

  add(at: number, value: number): void {
    const usual = this.#season.usualAt(at)
    if (!usual) this.#all?.add(value)
    else if (usual.by === 'day') {
      this.#day ??= new Histogram(this.#options)
      this.#day.add(value - usual.value)
    } else {
      this.#week ??= new Histogram(this.#options)
      this.#week.add(value - usual.value)
    }
    this.#season.add(at, value)
  }

  pack(): PackedSeries {
    return {
      ...(this.#all && { all: this.#all.pack() }),
      ...(this.#day && { day: this.#day.pack() }),
      ...(this.#week && { week: this.#week.pack() }),
      season: this.#season.pack(),
    }
  }

  static unpack({ all, day, week, season }: PackedSeries, options: SeriesOptions): Series {
    const series = new Series(options)
    if (all && !options.onlySeasonal) series.#all = Histogram.unpack(all, options)
    if (day) series.#day = Histogram.unpack(day, options)
    if (week) series.#week = Histogram.unpack(week, options)
    series.#season = Season.unpack(season)
    return series
  }

  /** What a value is compared with: the narrowest that has enough values. */
  #known(usual: Usual | undefined, warmup: number): Histogram | undefined {
    const isEnough = (histogram: Histogram | undefined): boolean =>
      histogram !== undefined && histogram.total >= warmup
    if (usual?.by === 'week' && isEnough(this.#week)) return this.#week
    if (usual && isEnough(this.#day)) return this.#day
    return isEnough(this.#all) ? this.#all : undefined
  }

  #middle(known: Histogram, usual: Usual | undefined): number {
    return known === this.#all ? known.median : known.median + usual!.value
  }
}

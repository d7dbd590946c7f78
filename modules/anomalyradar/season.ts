import { z } from 'zod'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayHours = 24
const weekHours = 7 * dayHours
/** Hours of a week that are remembered: the same hour of so many weeks. */
const weeks = 4
const mostSamples = 60

/** Fewer values in an hour say nothing of it. */
const enoughSamples = 6
/** Hours of the same place in the week, or else in the day. Of five days in a row at least three are alike, even over a weekend. */
const enoughWeeks = 3
const enoughDays = 5

export const packedSeason = z
  .array(
    z
      .tuple([
        z
          .int()
          .min(0)
          .max(weekHours - 1),
      ])
      .rest(z.number()),
  )
  .max(weekHours)
export type PackedSeason = z.infer<typeof packedSeason>

export interface Usual {
  /** What the hour is one of: those of a day, or those of a week. */
  readonly by: 'day' | 'week'
  readonly value: number
}

/**
 * What is usual at an hour: the median of the medians of the same hour of the last four weeks (UTC), once three are known, and until
 * then of the same hour of other days, once five are. Of each minute only the first value counts, so that adding costs nothing.
 */
export class Season {
  /** Medians by the hour of the week, the oldest first. */
  readonly #hours = new Map<number, number[]>()
  readonly #samples: number[] = []
  #hour = -1
  #minute = -1
  #usualHour = -1
  #usual: Usual | undefined

  /** What is usual at this time; undefined while too little is known. */
  usualAt(at: number): Usual | undefined {
    const hour = Math.floor(at / hourMs)
    if (hour !== this.#usualHour) {
      this.#usualHour = hour
      this.#usual = this.#usualIn(slotOf(hour))
    }
    return this.#usual
  }

  add(at: number, value: number): void {
    const minute = Math.floor(at / minuteMs)
    if (minute === this.#minute) return
    this.#minute = minute
    const hour = Math.floor(at / hourMs)
    if (hour !== this.#hour) this.#turn(hour)
    if (this.#samples.length < mostSamples) this.#samples.push(value)
  }

  pack(): PackedSeason {
    return Array.from(this.#hours, ([slot, medians]) => [slot, ...medians.map(rounded)])
  }

  static unpack(packed: PackedSeason): Season {
    const season = new Season()
    for (const [slot, ...medians] of packed) season.#hours.set(slot, medians.slice(-weeks))
    return season
  }

  /** Takes in the hour that is over. */
  #turn(hour: number): void {
    if (this.#samples.length >= enoughSamples) {
      const slot = slotOf(this.#hour)
      const medians = [...(this.#hours.get(slot) ?? []), medianOf(this.#samples)].slice(-weeks)
      this.#hours.set(slot, medians)
      this.#usualHour = -1
    }
    this.#samples.length = 0
    this.#hour = hour
  }

  #usualIn(slot: number): Usual | undefined {
    const same = this.#hours.get(slot) ?? []
    if (same.length >= enoughWeeks) return { by: 'week', value: medianOf(same) }
    const days: number[] = []
    for (let other = slot % dayHours; other < weekHours; other += dayHours)
      days.push(...(this.#hours.get(other) ?? []))
    return days.length >= enoughDays ? { by: 'day', value: medianOf(days) } : undefined
  }
}

/** The hour of the week; the epoch began on a Thursday, which is as good a first day as any. */
const slotOf = (hour: number): number => hour % weekHours

const rounded = (value: number): number => Math.round(value * 1000) / 1000

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

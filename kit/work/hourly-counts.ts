import type { Counters } from '../../storage/index.ts'

const hourMs = 3_600_000
const dayHours = 24

/** Counts of the last 24 hours, to the hour, by id: in the store, so they hold over threads and restarts. */
export class HourlyCounts {
  readonly #counters: Counters

  constructor(counters: Counters) {
    this.#counters = counters
  }

  add(id: string, amount: number, now = Date.now()): void {
    this.#counters.add(named(hourOf(now), id), amount)
  }

  ofLastDay(id: string, now = Date.now()): number {
    let sum = 0
    for (let back = 0; back < dayHours; back += 1) sum += this.#counters.get(named(hourOf(now) - back, id))
    return sum
  }

  /** Forgets the hours that are over. */
  prune(now = Date.now()): void {
    const oldest = named(hourOf(now) - dayHours, '')
    for (const [name] of this.#counters.entries('hour ')) if (name < oldest) this.#counters.delete(name)
  }
}

const hourOf = (time: number): number => Math.floor(time / hourMs)

/** Seven digits until the year 3110, so the names sort by time. */
const named = (hour: number, id: string): string => `hour ${String(hour).padStart(7, '0')} ${id}`

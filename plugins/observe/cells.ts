import type { CallSource, FigureDimension, RowLog } from '#kernel'
import type { TraceRow } from './row.ts'
import { Tally, type Totals } from './tally.ts'

/**
 * The roll-up of traces. Each trace adds to cells of two scopes, all users (`*`) and its own user, so that every chart
 * reads a short range of cells, for users and admins alike. A trace that a client reported adds to the cells of its user only, as
 * the gateway has not checked it, and to `manual`, where both scopes count the reported traces:
 *
 * - `m/<hour>/<scope>/<minute>` and `h/<scope>/<hour>`: totals with latencies, for series;
 * - `d/<scope>/total/<day>/`: the same for a day;
 * - `d/<scope>/<dimension>/<day>/<value>`: totals by provider, model, project, key, tag and (all users) user and tenant; of one
 *   user's models, projects and tags of a day, the first 200 have cells of their own;
 * - `d/<scope>/manual/<day>/`: totals of reported traces; their part of the cells by value is in `d/<user>~manual/…`;
 * - `q/<day>/<dimension>/<value>/<quarter>`: totals of all calls, and by every dimension, for hours, and for periods that begin at
 *   midnight somewhere else.
 *
 * Calls that the gateway itself starts have separate scopes, `*~replay` and `<user>~replay` by their source, so that figures have
 * them only on request. Cells by the quarter of an hour count calls of all sources, but for a user's own, which leave out attacks of the red
 * team.
 *
 * Quarters, hours, minutes and days are counted from the epoch, in UTC.
 */
export type Dimension = FigureDimension | 'manual'

export const everybody = '*'

export const minuteMs = 60_000
export const quarterMs = 900_000
export const hourMs = 3_600_000
const dayMs = 86_400_000

/** Number of the UTC day. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs)

/** `2026-11-21` for the number of a day. */
export const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)

/** The range of the cells by the minute in whole hours before a time. */
export const minutesBefore = (ms: number): [from: string, to: string] => [
  'm/',
  `m/${Math.floor(ms / hourMs)}/`,
]

/** The range of the cells by the quarter of an hour in whole days before a time. */
export const quartersBefore = (ms: number): [from: string, to: string] => ['q/', `q/${dayOf(ms)}/`]

/** What tells scopes of a source apart; clients' own calls have none. */
export const suffixOf = (source: string | undefined): string => (source === undefined ? '' : `~${source}`)

/** Reads the roll-up for one scope: a user's id, or all users; clients' own calls, or those of another source. */
export class Cells {
  readonly #log: RowLog<TraceRow>
  readonly #scope: string
  /** Cells that could not be read and are in no sum that was asked for. */
  unreadable = 0

  constructor(log: RowLog<TraceRow>, scope: string, source?: CallSource | 'manual') {
    this.#log = log
    this.#scope = scope + suffixOf(source)
  }

  /** Sums by value of a dimension, over the days from one to another, both included. */
  async byValue(dimension: Dimension, fromDay: number, toDay: number): Promise<Map<string, Tally>> {
    const sums = new Map<string, Tally>()
    for (const [, value, totals] of await this.#days(dimension, fromDay, toDay)) sumUp(sums, value, totals)
    return sums
  }

  /** The same for each day, by the time at which it begins and the value: `1795305600000 gpt-4o`. */
  async byDayAndValue(dimension: Dimension, fromDay: number, toDay: number): Promise<Map<string, Tally>> {
    const sums = new Map<string, Tally>()
    for (const [day, value, totals] of await this.#days(dimension, fromDay, toDay))
      sumUp(sums, `${day * dayMs} ${value}`, totals)
    return sums
  }

  /** The same for each hour that begins in a time; of calls of whatever source and scope. */
  async byHourAndValue(dimension: Dimension, fromMs: number, toMs: number): Promise<Map<string, Tally>> {
    const sums = new Map<string, Tally>()
    const [first, last] = [dayOf(fromMs), dayOf(toMs - 1)]
    for (let day = first; day <= last; day += 1) {
      const prefix = `q/${day}/${dimension}/`
      for (const [cell, totals] of await this.#read(prefix, `q/${day}/${dimension}0`)) {
        const end = cell.lastIndexOf('/')
        const hour = Math.floor((Number(cell.slice(end + 1)) * quarterMs) / hourMs) * hourMs
        if (hour >= fromMs && hour < toMs) sumUp(sums, `${hour} ${cell.slice(prefix.length, end)}`, totals)
      }
    }
    return sums
  }

  async #days(dimension: Dimension, fromDay: number, toDay: number): Promise<[number, string, Totals][]> {
    const prefix = `d/${this.#scope}/${dimension}/`
    const cells = await this.#read(prefix + fromDay, prefix + (toDay + 1))
    return cells.map(([cell, totals]) => {
      const end = cell.indexOf('/', prefix.length)
      return [Number(cell.slice(prefix.length, end)), cell.slice(end + 1), totals]
    })
  }

  /** Totals by day number, over the days from one to another, both included; of all calls, or of reported traces. */
  async byDay(fromDay: number, toDay: number, of: 'total' | 'manual' = 'total'): Promise<Map<number, Tally>> {
    const sums = new Map<number, Tally>()
    const prefix = `d/${this.#scope}/${of}/`
    for (const [cell, totals] of await this.#read(prefix + fromDay, prefix + (toDay + 1))) {
      sumUp(sums, Number.parseInt(cell.slice(prefix.length), 10), totals)
    }
    return sums
  }

  /** Totals by the start of each bucket in milliseconds; buckets are whole minutes or whole hours. */
  async series(fromMs: number, toMs: number, bucketMs: number): Promise<Map<number, Tally>> {
    const sums = new Map<number, Tally>()
    const unit = bucketMs % hourMs === 0 ? hourMs : minuteMs
    for (const [from, to] of this.#ranges(fromMs, toMs, unit)) {
      for (const [cell, totals] of await this.#read(from, to)) {
        const at = Number(cell.slice(cell.lastIndexOf('/') + 1)) * unit
        sumUp(sums, Math.floor(at / bucketMs) * bucketMs, totals)
      }
    }
    return sums
  }

  /** The calls of one holder that began in a time, to a quarter of an hour; of whatever source and scope. */
  async quarters(dimension: Dimension, value: string, fromMs: number, toMs: number): Promise<Tally> {
    const [first, last] = [dayOf(fromMs), dayOf(toMs - 1)]
    const sums = new Tally()
    const days = Array.from({ length: Math.max(0, last - first + 1) }, async (_, i) => {
      const prefix = `q/${first + i}/${dimension}/${value}/`
      const [from, to] = [Math.floor(fromMs / quarterMs), Math.ceil(toMs / quarterMs)]
      // Another value may have this one as its beginning.
      for (const [cell, totals] of await this.#read(prefix + from, prefix + to))
        if (cell.lastIndexOf('/') < prefix.length) sums.add(totals)
    })
    await Promise.all(days)
    return sums
  }

  async #read(from: string, to: string) {
    const { cells, unreadable = 0 } = await this.#log.totals(from, to)
    this.unreadable += unreadable
    return cells
  }

  #ranges(fromMs: number, toMs: number, unit: number): [from: string, to: string][] {
    const from = Math.floor(fromMs / unit)
    const to = Math.ceil(toMs / unit)
    if (unit === hourMs) return [[`h/${this.#scope}/${from}`, `h/${this.#scope}/${to}`]]
    const firstHour = Math.floor(fromMs / hourMs)
    const lastHour = Math.floor((toMs - 1) / hourMs)
    return Array.from({ length: lastHour - firstHour + 1 }, (_, i) => {
      const prefix = `m/${firstHour + i}/${this.#scope}/`
      return [prefix + from, prefix + to]
    })
  }
}

function sumUp<K>(sums: Map<K, Tally>, key: K, totals: Totals): void {
  const tally = sums.get(key) ?? new Tally()
  sums.set(key, tally.add(totals))
}

import type { Limit } from '../../contract/counting.ts'

type Calendar = Extract<Limit, { timezone: string }>

/** Milliseconds since the epoch, the end exclusive. */
export interface Period {
  readonly start: number
  readonly end: number
}

/** The day or month that a moment lies in: days begin when the clocks there first show it, and have 23 to 25 hours. */
export function periodAt(wall: number, { kind, timezone }: Pick<Calendar, 'kind' | 'timezone'>): Period {
  const dateAt = datesIn(timezone)
  const today = new Date(dateAt(wall))
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth()]
  const day = kind === 'day' ? today.getUTCDate() : 1
  const next = kind === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1)
  return { start: beginOf(Date.UTC(year, month, day), dateAt), end: beginOf(next, dateAt) }
}

/** Tells which date the clocks of a zone show, as the time at which it begins in UTC. */
function datesIn(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', {
    timeZone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  })
  return (at) => {
    const shown = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    return Date.UTC(shown.year!, shown.month! - 1, shown.day)
  }
}

/** Dates begin up to 14 hours before they do in UTC, and 12 after, one of them left out by clocks that go forward. */
const earliestS = -16 * 3600
const latestS = 14 * 3600

/** The first second in which the clocks show a date, or a later one where that is left out. */
function beginOf(date: number, dateAt: (at: number) => number): number {
  let [before, after] = [earliestS, latestS]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (dateAt(date + middle * 1000) < date) before = middle
    else after = middle
  }
  return date + after * 1000
}

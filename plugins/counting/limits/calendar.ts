import type { Limit } from '#kernel'

type Calendar = Extract<Limit, { timezone: string }>

/** Milliseconds since the epoch, the end exclusive. */
export interface Period {
  readonly start: number
  readonly end: number
}

/** The day or month that a moment lies in: days begin when the clocks there first show it, and have 23 to 25 hours. */
export function periodAt(wall: number, { kind, timezone }: Pick<Calendar, 'kind' | 'timezone'>): Period {
  const now = Temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO(timezone)
  const first = kind === 'day' ? now : now.with({ day: 1 })
  const next = first.add(kind === 'day' ? { days: 1 } : { months: 1 })
  return {
    start: first.startOfDay().epochMilliseconds,
    end: next.startOfDay().epochMilliseconds,
  }
}

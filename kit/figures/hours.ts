import { z } from 'zod'

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
const dayMinutes = 24 * 60
const weekMinutes = 7 * dayMinutes

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'must be a time such as 09:30')

/** A stretch of hours on some days. One that ends before it starts goes on into the next day. */
export const hoursSchema = z
  .strictObject({
    days: z
      .array(z.enum(days))
      .min(1)
      .optional()
      .meta({ title: 'Days', description: 'Days on which the period starts; every day if empty.' }),
    from: time.meta({ title: 'From', description: 'Start of the period, such as 08:00.' }),
    to: time.meta({ title: 'To', description: 'End of the period, such as 18:00 or 24:00.' }),
  })
  .refine(({ from, to }) => from !== to, 'must not end when it starts')

export type Hours = z.infer<typeof hoursSchema>

/**
 * Tells for a time in milliseconds since the epoch whether it lies in any of these hours, by the clocks of a time zone (its IANA
 * name). Outside of UTC a look costs a few microseconds.
 */
export function compileHours(hours: readonly Hours[], timezone = 'UTC'): (now: number) => boolean {
  const windows = hours.flatMap(({ days: on = days, from, to }) => {
    const start = minutesOf(from)
    const length = (minutesOf(to) - start + dayMinutes) % dayMinutes || dayMinutes
    return on.map((day) => ({ start: days.indexOf(day) * dayMinutes + start, length }))
  })
  const minuteOf = timezone === 'UTC' ? minuteOfUtcWeek : minuteOfWeekIn(timezone)
  return (now) => {
    const minute = minuteOf(now)
    return windows.some(({ start, length }) => (minute - start + weekMinutes) % weekMinutes < length)
  }
}

function minuteOfUtcWeek(now: number): number {
  const at = new Date(now)
  return at.getUTCDay() * dayMinutes + at.getUTCHours() * 60 + at.getUTCMinutes()
}

function minuteOfWeekIn(timezone: string): (now: number) => number {
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  return (now) => {
    const read = Object.fromEntries(clock.formatToParts(now).map(({ type, value }) => [type, value]))
    const day = (days as readonly string[]).indexOf(read.weekday!.toLowerCase())
    return day * dayMinutes + Number(read.hour) * 60 + Number(read.minute)
  }
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}

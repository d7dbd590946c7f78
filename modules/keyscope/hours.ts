import { z } from 'zod'

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
const dayMinutes = 24 * 60
const weekMinutes = 7 * dayMinutes

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'must be a time such as 09:30')

/** A stretch of hours on some days, in UTC. One that ends before it starts goes on into the next day. */
export const hoursSchema = z
  .strictObject({
    days: z
      .array(z.enum(days))
      .min(1)
      .optional()
      .meta({ title: 'Days', description: 'Days on which the period starts; every day if empty.' }),
    from: time.meta({ title: 'From', description: 'Start of the period in UTC, such as 08:00.' }),
    to: time.meta({ title: 'To', description: 'End of the period in UTC, such as 18:00 or 24:00.' }),
  })
  .refine(({ from, to }) => from !== to, 'must not end when it starts')

export type Hours = z.infer<typeof hoursSchema>

/** Tells for a time in milliseconds since the epoch whether it lies in any of these hours. */
export function compileHours(hours: readonly Hours[]): (now: number) => boolean {
  const windows = hours.flatMap(({ days: on = days, from, to }) => {
    const start = minutesOf(from)
    const length = (minutesOf(to) - start + dayMinutes) % dayMinutes || dayMinutes
    return on.map((day) => ({ start: days.indexOf(day) * dayMinutes + start, length }))
  })
  return (now) => {
    const at = new Date(now)
    const minute = at.getUTCDay() * dayMinutes + at.getUTCHours() * 60 + at.getUTCMinutes()
    return windows.some(({ start, length }) => (minute - start + weekMinutes) % weekMinutes < length)
  }
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}

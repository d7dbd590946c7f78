import { z } from 'zod'
import { compileHours, hoursSchema, timezoneSchema } from '#kit'

/** The hours in which calls are made. */
export const window = z.union([
  z.literal('always'),
  z.strictObject({
    hours: z.array(hoursSchema).min(1).max(50).meta({
      title: 'Hours',
      description: 'Periods in which calls are made.',
    }),
    timezone: timezoneSchema.default('UTC').meta({
      title: 'Time zone',
      description: 'The time zone of these hours, by its IANA name.',
    }),
  }),
])
export type Window = z.infer<typeof window>

const minuteMs = 60_000
/** Hours come again after a week; the change of clocks makes it no longer than a day more. */
const longestMinutes = 8 * 24 * 60

/**
 * Tells for a time in milliseconds since the epoch when the window is open next: that time itself where it is open. The answer is kept
 * while it holds, as thousands of calls ask while the window is closed.
 */
export function openingsOf(window: Window): (now: number) => number {
  if (window === 'always') return (now) => now
  const isOpen = compileHours(window.hours, window.timezone)
  let closed = { from: 0, to: 0 }
  return (now) => {
    if (now >= closed.from && now < closed.to) return closed.to
    if (isOpen(now)) return now
    let at = Math.floor(now / minuteMs) * minuteMs
    for (let minutes = 0; minutes < longestMinutes && !isOpen(at); minutes += 1) at += minuteMs
    closed = { from: now, to: at }
    return at
  }
}

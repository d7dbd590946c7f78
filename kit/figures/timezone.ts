import { z } from 'zod'

/** A setting that is a time zone by its IANA name. */
export const timezoneSchema = z
  .string()
  .max(64)
  .refine(isTimezone, 'must be the IANA name of a time zone, such as Europe/Berlin')

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

import { hash } from 'node:crypto'
import { canonicalJson } from '#kit'

/**
 * The SHA-256 of the canonical JSON (RFC 8785) of some JSON, in hexadecimal. Half characters count as U+FFFD and numbers that are not
 * finite as null, as such JSON has no canonical form.
 */
export const digestOf = (json: string): string => hash('sha256', canonicalOf(JSON.parse(json)))

function canonicalOf(value: unknown): string {
  try {
    return canonicalJson(value)
  } catch {
    return canonicalJson(JSON.parse(JSON.stringify(value), repaired))
  }
}

const repaired = (_: string, value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name.toWellFormed(), field]))
}

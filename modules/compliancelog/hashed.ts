import { hash } from 'node:crypto'
import { canonicalJson } from '#kit'

/** UTF-16 units of a text that is hashed at once; a longer one is hashed in another thread. */
const short = 65_536

/**
 * The SHA-256 of a body's canonical JSON (RFC 8785), in hexadecimal; null for none. Half characters count as U+FFFD, and numbers that
 * are not finite as null, as such a body has no canonical JSON.
 */
export function hashed(body: unknown): string | null | Promise<string> {
  if (body === undefined) return null
  const text = textOf(body)
  return text.length <= short ? hash('sha256', text) : hashedElsewhere(text)
}

function textOf(body: unknown): string {
  try {
    return canonicalJson(body)
  } catch {
    return canonicalJson(JSON.parse(JSON.stringify(body), repaired))
  }
}

const repaired = (_: string, value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name.toWellFormed(), field]))
}

const hashedElsewhere = async (text: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex')

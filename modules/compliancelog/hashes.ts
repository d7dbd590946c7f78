import { hash } from 'node:crypto'
import type { Call, Completion, ModelRequest, Outcome } from '#kernel'
import { canonicalJson } from '#kit'

/** UTF-16 units of bodies whose hashes are made by this thread. */
const short = 65_536

/** The bodies of a call as its trace shows them. */
export interface Bodies {
  readonly request: ModelRequest | undefined
  readonly response: Completion | undefined
  readonly areLong: boolean
}

/** The SHA-256 of each body's canonical JSON (RFC 8785), in hexadecimal; null for none. */
export interface Hashes {
  readonly request_sha256: string | null
  readonly response_sha256: string | null
}

export function bodiesOf(outcome: Outcome, { trace }: Call): Bodies {
  const { request } = trace
  const length = (request ? trace.json(request).length : 0) + (outcome.json()?.length ?? 0)
  return { request, response: outcome.body(), areLong: length > short }
}

/** Half characters count as U+FFFD, and numbers that are not finite as null, as such a body has no canonical JSON. */
export const hashesOf = ({ request, response }: Bodies): Hashes => ({
  request_sha256: request ? hash('sha256', textOf(request)) : null,
  response_sha256: response ? hash('sha256', textOf(response)) : null,
})

/** The same of long bodies, which another thread hashes. */
export async function hashesElsewhere({ request, response }: Bodies): Promise<Hashes> {
  const [request_sha256, response_sha256] = await Promise.all([
    hashedElsewhere(request),
    hashedElsewhere(response),
  ])
  return { request_sha256, response_sha256 }
}

async function hashedElsewhere(body: unknown): Promise<string | null> {
  if (body === undefined) return null
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(textOf(body)))).toString('hex')
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

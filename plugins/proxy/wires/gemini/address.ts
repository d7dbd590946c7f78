import { type Address, badRequest } from '#kernel'
import type { Form } from './encoder.ts'

/** Where Google's clients of old put a key. */
const secrets = ['key', 'access_token'] as const

/** Refuses an address with a key in it, whatever else the request has: addresses end up in logs. */
export function checkAddress({ query }: Address): void {
  if (query === '') return
  const asked = new URLSearchParams(query)
  for (const param of secrets) {
    if (asked.has(param))
      throw badRequest(
        `${param}: a key in a URL ends up in logs and is refused; send it in the header x-goog-api-key.`,
        { param },
      )
  }
}

/** In which form a stream is asked for. */
export function formOf({ query }: Address): Form {
  const alt = new URLSearchParams(query).get('alt') ?? 'json'
  if (alt === 'sse' || alt === 'json') return alt
  throw badRequest('alt: expected sse or json.', { param: 'alt' })
}

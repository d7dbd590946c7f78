import type { Target } from '#kernel'
import { quirksOf } from './quirks.ts'

/** The headers of every request. */
export function headersOf({ provider, key }: Target): Record<string, string> {
  const { key_header } = quirksOf(provider)
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(key && (key_header ? { [key_header]: key.secret } : { authorization: `Bearer ${key.secret}` })),
    ...provider.headers,
  }
}

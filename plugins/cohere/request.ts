import type { Target } from '#kernel'

/** Where the API is, without the version that people write behind it. */
export const rootOf = ({ provider }: Target): string => provider.baseUrl.replace(/\/v[12]$/, '')

/** The headers of every request. */
export function headersOf({ provider, key }: Target): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(key && { authorization: `Bearer ${key.secret}` }),
    ...provider.headers,
  }
}

import type { Target } from '#kernel'

/** Where the API is; an address without a path gets that of its version. */
export function rootOf({ provider: { baseUrl } }: Target): string {
  return URL.canParse(baseUrl) && new URL(baseUrl).pathname === '/' ? `${baseUrl}/v1beta` : baseUrl
}

/** The headers of every request. */
export function headersOf({ provider, key }: Target): Record<string, string> {
  return {
    'content-type': 'application/json',
    ...(key && { 'x-goog-api-key': key.secret }),
    ...provider.headers,
  }
}

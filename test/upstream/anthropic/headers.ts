import { createHash } from 'node:crypto'
import type { RecordedRequest } from '../record.ts'

/** The headers that the service puts on every answer. */
export function serviceHeaders(request: RecordedRequest, contentType: string): Record<string, string> {
  return {
    'content-type': contentType,
    'request-id': requestId(request),
    'anthropic-organization-id': '00000000-0000-4000-8000-000000000000',
    'anthropic-ratelimit-requests-limit': '4000',
    'anthropic-ratelimit-requests-remaining': '3999',
    'anthropic-ratelimit-tokens-limit': '400000',
    'anthropic-ratelimit-tokens-remaining': '399000',
  }
}

export const requestId = (request: RecordedRequest): string => `req_${fingerprint(request)}`

/** Differs for each request of an upstream, and is the same whenever the same requests come in the same order. */
export function fingerprint(request: RecordedRequest): string {
  return createHash('md5')
    .update(`${request.ordinal} ${request.path} ${request.rawBody}`)
    .digest('hex')
    .slice(0, 24)
}

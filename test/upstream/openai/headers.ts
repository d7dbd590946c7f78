import { createHash } from 'node:crypto'
import type { RecordedRequest } from '../record.ts'

/** The headers that the real service puts on every answer, its cookie and its rate limits included. */
export function serviceHeaders(request: RecordedRequest, contentType: string): Record<string, string> {
  return {
    'content-type': contentType,
    'x-request-id': `req_${fingerprint(request)}`,
    'openai-organization': 'org-test',
    'openai-project': 'proj_test',
    'openai-processing-ms': '12',
    'openai-version': '2020-10-01',
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-limit-tokens': '200000',
    'x-ratelimit-remaining-requests': '9999',
    'x-ratelimit-remaining-tokens': '199982',
    'x-ratelimit-reset-requests': '8.64s',
    'x-ratelimit-reset-tokens': '5ms',
    'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
    'x-content-type-options': 'nosniff',
    'set-cookie': '__cf_bm=upstream-cookie; path=/; HttpOnly; Secure; SameSite=None',
    'cf-cache-status': 'DYNAMIC',
    server: 'cloudflare',
  }
}

/** Differs for each request of an upstream, and is the same whenever the same requests come in the same order. */
export function fingerprint(request: RecordedRequest): string {
  return createHash('md5').update(`${request.ordinal} ${request.path} ${request.rawBody}`).digest('hex')
}

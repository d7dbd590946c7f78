import { expect, test } from 'vitest'
import { badRequest, UpstreamError } from '#kernel'
import { isWorthMoving, reasonOf, verdictOf } from './verdict.ts'

const codes = { 400: 'bad_request', 404: 'not_found', 422: 'bad_request', 429: 'rate_limited' } as const

/** An error as a protocol makes it of a provider's answer. */
function errorOf(status: number): UpstreamError {
  const code = codes[status as keyof typeof codes]
  const about = {
    provider: 'a',
    model: 'm',
    fault: 'status',
    providerStatus: status,
    retryable: false,
  } as const
  return new UpstreamError(code ?? 'provider_error', 'it failed', code ? { ...about, status } : about)
}

const silent = (fault: 'network' | 'timeout' | 'protocol') =>
  new UpstreamError('provider_error', 'it failed', { provider: 'a', model: 'm', fault, retryable: true })

test.each([500, 502, 503, 529, 408])('a %s is a failure, and another target may do better', (status) => {
  expect([verdictOf(errorOf(status)), isWorthMoving(errorOf(status))]).toEqual(['failed', true])
})

test.each(['network', 'timeout', 'protocol'] as const)('so is what ends in a %s error', (fault) => {
  expect([verdictOf(silent(fault)), isWorthMoving(silent(fault))]).toEqual(['failed', true])
  expect(reasonOf(silent(fault))).toBe(fault)
})

test.each([401, 402, 403, 429])(
  'a %s says nothing about the provider, but another target may do better',
  (status) => {
    expect([verdictOf(errorOf(status)), isWorthMoving(errorOf(status))]).toEqual(['neither', true])
    expect(reasonOf(errorOf(status))).toBe(`status ${status}`)
  },
)

test.each([400, 404, 422])("a %s is the caller's, here and everywhere", (status) => {
  expect([verdictOf(errorOf(status)), isWorthMoving(errorOf(status))]).toEqual(['neither', false])
})

test('no error is an answer, and a refusal by the gateway no reason to move', () => {
  expect(verdictOf(undefined)).toBe('answered')
  expect(isWorthMoving(badRequest('no'))).toBe(false)
})

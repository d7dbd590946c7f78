import { expect, it } from 'vitest'
import { UpstreamError } from '#kernel'
import type { Probe } from '#provider'
import { healthOf, isProvidersFault, remember, type Sample, windowMs } from './health.ts'

const now = Date.parse('2026-11-01T00:00:00Z')
const samples = (pattern: string): Sample[] =>
  [...pattern].map((letter, i) => ({ at: now - 1000 + i, ok: letter === '+', ms: i }))
const probe = (status: Probe['status'], at: number): Probe => ({
  provider: 'p',
  status,
  latencyMs: 5,
  message: '',
  checkedAt: new Date(at).toISOString(),
})

it.each([
  ['', 'unknown'],
  ['+', 'healthy'],
  ['-', 'degraded'],
  ['+++++++++++', 'healthy'],
  ['++++++++-+', 'degraded'],
  ['+-+-+-', 'down'],
])('tries %j are %s', (pattern, status) => {
  expect(healthOf(samples(pattern), undefined, now).status).toBe(status)
})

it('the newer of the last try and the last check counts', () => {
  expect(healthOf(samples('++++++'), probe('down', now), now).status).toBe('down')
  expect(healthOf(samples('++++++'), probe('down', now - 5000), now).status).toBe('healthy')
})

it('tries are forgotten when they are old, and when there are too many', () => {
  expect(healthOf(samples('-----'), undefined, now + windowMs + 1000).errorRate).toBeNull()
  const many: Sample[] = []
  for (let n = 0; n < 1000; n += 1) remember(many, { at: now, ok: true, ms: 1 })
  expect(many.length).toBeLessThanOrEqual(200)
})

it.each([
  ['status', 500, true],
  ['status', 429, true],
  ['status', 401, true],
  ['status', 400, false],
  ['status', 404, false],
  ['status', 422, false],
  ['network', undefined, true],
  ['timeout', undefined, true],
  ['protocol', 200, true],
] as const)('a fault of kind %s with status %s is the provider’s: %s', (fault, providerStatus, expected) => {
  const error = new UpstreamError('provider_error', 'x', {
    provider: 'p',
    model: 'm',
    fault,
    retryable: true,
    ...(providerStatus !== undefined && { providerStatus }),
  })
  expect(isProvidersFault(error)).toBe(expected)
})

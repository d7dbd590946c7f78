import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Outcome } from '#kernel'
import { averageLatencyMs, emptyTraffic, errorRate, overheadMs, record } from './traffic.ts'

const outcome = (fields: Partial<Outcome>) =>
  ({ ending: 'ok', latencyMs: 10, upstreamMs: 8, ...fields }) as Outcome

test('before the first call every figure is zero', () => {
  const traffic = emptyTraffic()
  expect([errorRate(traffic), averageLatencyMs(traffic), overheadMs(traffic, 0.99)]).toEqual([0, 0, 0])
})

test('failures are those of providers and of the gateway', () => {
  const traffic = emptyTraffic()
  for (const ending of ['ok', 'length', 'blocked', 'refused', 'client_abort'] as const) {
    record(traffic, outcome({ ending }))
  }
  expect(errorRate(traffic)).toBe(0)
  for (const ending of ['upstream_error', 'timeout', 'gateway_error'] as const)
    record(traffic, outcome({ ending }))
  expect(errorRate(traffic)).toBe(3 / 8)
})

test('the quantile of the overhead is at most a fifth above the exact one', () => {
  const overheads = fc.array(fc.double({ min: 0.001, max: 20_000, noNaN: true }), {
    minLength: 1,
    maxLength: 300,
  })
  fc.assert(
    fc.property(overheads, fc.constantFrom(0.5, 0.9, 0.99, 1), (all, share) => {
      const traffic = emptyTraffic()
      for (const ms of all) record(traffic, outcome({ latencyMs: ms, upstreamMs: 0 }))
      const exact = all.toSorted((a, b) => a - b)[Math.ceil(all.length * share) - 1]!
      expect(overheadMs(traffic, share)).toBeGreaterThanOrEqual(exact * (1 - 1e-9))
      expect(overheadMs(traffic, share)).toBeLessThanOrEqual(exact * 1.2)
    }),
  )
})

test('a clock that saw providers take longer than the call gives no negative overhead', () => {
  const traffic = emptyTraffic()
  record(traffic, outcome({ latencyMs: 5, upstreamMs: 9 }))
  expect(overheadMs(traffic, 0.99)).toBe(0.001)
})

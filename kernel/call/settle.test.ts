import { expect, test } from 'vitest'
import { callWith } from '../../test/chain.ts'
import { UpstreamError } from '../errors.ts'
import type { Call } from './call.ts'
import { outcomeOf, type Rating } from './settle.ts'
import type { Attempt } from './trail.ts'

const unrated: Rating = { prices: undefined, tokens: undefined }

const callOf = (attempts: readonly Partial<Attempt>[]): Call => {
  const call = callWith()
  for (const [i, attempt] of attempts.entries()) {
    call.trail.attempts.push({
      n: i + 1,
      provider: 'openai',
      model: 'm',
      keyHint: undefined,
      startedAt: 0,
      status: 200,
      latencyMs: undefined,
      error: undefined,
      reasonNext: undefined,
      usage: undefined,
      ...attempt,
    })
  }
  return call
}

const upstreamMs = (...attempts: Partial<Attempt>[]): number => {
  const served = { status: 200, error: undefined, finishReason: undefined, chunks: 0, body: undefined }
  return outcomeOf(callOf(attempts), served, unrated).upstreamMs
}

test('the time of attempts one after the other is added up', () => {
  expect(upstreamMs({ startedAt: 10, latencyMs: 5 }, { startedAt: 20, latencyMs: 7 })).toBe(12)
})

test('the time in which attempts race each other counts once', () => {
  expect(upstreamMs({ startedAt: 10, latencyMs: 10 }, { startedAt: 15, latencyMs: 20 })).toBe(25)
  expect(upstreamMs({ startedAt: 10, latencyMs: 30 }, { startedAt: 15, latencyMs: 5 })).toBe(30)
})

test('the time of an attempt that was cut off counts up to the end of the call', () => {
  const startedAt = performance.now() - 1000
  expect(upstreamMs({ startedAt })).toBeGreaterThanOrEqual(1000)
})

test.each([
  ['upstream_error', 'provider_error'],
  ['gateway_error', 'internal_error'],
] as const)('an answer that ends in %s is one whose reading failed with %s', (ending, code) => {
  const about = { provider: 'openai', model: 'm', fault: 'protocol', retryable: true } as const
  const error = new UpstreamError(code, 'It could not be read.', about)
  const served = { status: 500, error, finishReason: undefined, chunks: 0, body: undefined }
  expect(outcomeOf(callOf([{ error }]), served, unrated).ending).toBe(ending)
})

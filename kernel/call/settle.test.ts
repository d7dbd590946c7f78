import { expect, test } from 'vitest'
import { createPrices } from '../../plugins/models/prices.ts'
import { callWith } from '../../test/chain.ts'
import { UpstreamError } from '../errors.ts'
import type { Call } from './call.ts'
import type { Rating } from './outcome.ts'
import { outcomeOf } from './settle.ts'
import type { Attempt } from './trace.ts'
import { noUsage } from './usage.ts'

const unrated: Rating = { prices: undefined, tokens: undefined }

const callOf = (attempts: readonly Partial<Attempt>[]): Call => {
  const call = callWith()
  for (const [i, attempt] of attempts.entries()) {
    call.trace.attempts.push({
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

const answered = { status: 200, error: undefined, finishReason: 'stop', chunks: 0, body: undefined } as const

/** A dollar for a million tokens of any class. */
const rated: Rating = {
  ...unrated,
  prices: createPrices({ overrides: { 'openai/m': { inputUsdPerM: 1, outputUsdPerM: 1 } } }),
}

test.each([
  [1e300, 0],
  [0, 2 ** 53],
  [-1, 0],
])('a usage of %d and %d tokens is estimated, as if nothing had been reported', (input, output) => {
  const usage = { ...noUsage, input, output, source: 'provider' } as const
  const reported = outcomeOf(callOf([{ usage: () => usage }]), answered, unrated)
  expect(reported.usage).toEqual(outcomeOf(callOf([{}]), answered, unrated).usage)
  expect(reported.usage.source).not.toBe('provider')
})

test.each([1e300, -1, Number.NaN, 100_001, '5'])('a reported cost of %s is computed instead', (odd) => {
  const usage = { ...noUsage, input: 1_000_000, output: 0, source: 'provider' } as const
  const { cost } = outcomeOf(callOf([{ usage: () => usage, costUsd: () => odd as number }]), answered, rated)
  expect(cost).toMatchObject({ totalNano: 1_000_000_000, source: 'override' })
})

test('the cost of many dear attempts ends where whole numbers do', () => {
  const usage = { ...noUsage, input: 1, output: 0, source: 'provider' } as const
  const attempts = Array.from({ length: 100 }, () => ({ usage: () => usage, costUsd: () => 100_000 }))
  expect(outcomeOf(callOf(attempts), answered, rated).cost?.totalNano).toBe(2 ** 53 - 1)
})

test.each([[7], [{}], [''], ['x'.repeat(101)]])('an end of %j is none', (odd) => {
  const served = { ...answered, finishReason: odd as 'stop' }
  expect(outcomeOf(callOf([]), served, unrated).finishReason).toBeUndefined()
})

import { describe, expect, test } from 'vitest'
import type { Completion } from '../../kit/canonical/forms.ts'
import { noUsage } from '../../kit/canonical/usage.ts'
import {
  badRequest,
  ClientGone,
  contentBlocked,
  GatewayError,
  internalError,
  rateLimited,
  UpstreamError,
} from '../../kit/errors.ts'
import { over } from '../../kit/work/cancel.ts'
import { createPrices } from '../../plugins/models/prices.ts'
import { callWith } from '../../test/chain.ts'
import { Events } from '../events.ts'
import type { Log } from '../log.ts'
import type { Attempt } from './attempt.ts'
import { makeBill } from './bill.ts'
import type { Call } from './call.ts'
import { CallSettled, type Outcome, type Rating, type Served } from './outcome.ts'
import { outcomeOf as outcomeBy, settle } from './settle.ts'

const unrated: Rating = { prices: undefined, tokens: undefined }

const callOf = (attempts: readonly Partial<Attempt>[]): Call => {
  const call = callWith()
  for (const [i, attempt] of attempts.entries()) {
    call.trace.attempts.push({
      n: i + 1,
      identity: {},
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

/** The outcome without estimates. */
const outcomeOf = (call: Call, served: Served, rating: Rating): Outcome =>
  outcomeBy(call, served, rating, makeBill(call, served, rating.prices))

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
  expect(upstreamMs({ startedAt })).toBeLessThan(performance.now() - startedAt + 1)
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

const ended = (served: Partial<Served>) => outcomeOf(callOf([]), { ...answered, ...served }, unrated)

const upstream = { provider: 'openai', model: 'm', fault: 'status', retryable: false } as const

test.each([
  ['ok', { finishReason: 'stop' }],
  ['length', { finishReason: 'length' }],
  ['blocked', { finishReason: 'content_filter' }],
  ['client_abort', { error: new ClientGone() }],
  ['blocked', { error: contentBlocked('It holds a secret.') }],
  ['timeout', { error: new GatewayError('provider_error', 'It took too long.', { type: 'timeout' }) }],
  ['gateway_error', { error: badRequest('A guard failed.', { type: 'module_tripped' }) }],
  ['gateway_error', { error: internalError('It broke.') }],
  ['gateway_error', { error: new TypeError('a mistake of ours') }],
  ['refused', { error: rateLimited('Too many.') }],
  ['upstream_error', { error: new UpstreamError('rate_limited', 'Too many there.', upstream) }],
  ['upstream_error', { error: new UpstreamError('bad_request', 'No such thing.', upstream) }],
] as const)('the ending is %s after %j', (ending, served) => {
  expect(ended(served).ending).toBe(ending)
})

test('only a client that left is no error', () => {
  expect(ended({ error: new ClientGone() }).error).toBeUndefined()
  expect(ended({ error: rateLimited('Too many.') }).error).toMatchObject({ code: 'rate_limited' })
  expect(ended({}).error).toBeUndefined()
})

test('the provider and the model are those of the last attempt', () => {
  const call = callOf([
    { model: 'first' },
    { provider: 'azure', model: 'last' },
    { provider: 'groq', model: 'm3' },
  ])
  expect(outcomeOf(call, answered, unrated)).toMatchObject({ provider: 'groq', model: 'm3' })
})

test('the times are those since the call began', () => {
  const call = callOf([])
  const before = performance.now() - call.trace.started
  call.trace.firstContentAt = call.trace.started + 3
  const { latencyMs, ttftMs } = outcomeOf(call, answered, unrated)
  expect(latencyMs).toBeGreaterThanOrEqual(before)
  expect(latencyMs).toBeLessThanOrEqual(performance.now() - call.trace.started)
  expect(ttftMs).toBe(3)
})

test('the body is read when somebody asks, and its JSON is that of the provider while there is one', () => {
  const body: Completion = { id: 'c1', choices: [] }
  let read = 0
  const usage = { ...noUsage, input: 1, source: 'provider' } as const
  const served = { ...answered, body: () => [body, read++][0] as Completion }
  const outcome = outcomeOf(callOf([{ usage: () => usage }]), served, unrated)
  expect(read).toBe(0)
  expect(outcome.body()).toBe(body)
  expect(outcome.json()).toBe(JSON.stringify(body))
  expect(ended({ body: () => body, json: () => '{ "id": "c1" }' }).json()).toBe('{ "id": "c1" }')
  expect(ended({ body: undefined }).json()).toBeUndefined()
})

test('a reason of a hundred letters is the longest that is one', () => {
  expect(ended({ finishReason: 'x'.repeat(100) as 'stop' }).finishReason).toBe('x'.repeat(100))
})

describe('settling', () => {
  /** Settles the call, and returns what the listeners received. */
  async function settled(
    call: Call,
    served: Served,
    rating: Rating,
    hook: (outcome: Outcome) => void | Promise<void> = () => {},
  ) {
    const logged: object[] = []
    const emitted: Outcome[] = []
    const hooks: Outcome[] = []
    const events = new Events({ failed() {} })
    events.on(CallSettled, ({ outcome, call: about }) => {
      expect(about).toBe(call)
      emitted.push(outcome)
    })
    const log = {
      error: (about: object, message: string) => logged.push({ ...about, message }),
    } as unknown as Log
    const chain = {
      settled: (outcome: Outcome) => {
        hooks.push(outcome)
        return hook(outcome)
      },
    }
    await settle(call, served, { chain, rating }, { events, log })
    expect(call.cancel.reason).toBe(over)
    return { logged, emitted, hooks }
  }

  const left: Served = { ...answered, error: new ClientGone(), chunks: 3 }

  test('tells the chain, waits for it, and then everybody else', async () => {
    const order: string[] = []
    const { emitted, hooks, logged } = await settled(callOf([]), answered, unrated, async () => {
      await Promise.resolve()
      order.push('chain')
    })
    expect(order).toEqual(['chain'])
    expect(emitted).toEqual(hooks)
    expect(hooks).toHaveLength(1)
    expect(logged).toEqual([])
  })

  test('ends the call also when a module fails at it, which is logged under the call', async () => {
    const failure = new Error('a full disk')
    for (const fail of [
      () => Promise.reject(failure),
      () => {
        throw failure
      },
    ]) {
      const { emitted, logged } = await settled(callOf([]), answered, unrated, fail)
      expect(emitted).toEqual([])
      expect(logged).toEqual([expect.objectContaining({ err: failure, request_id: 'tr_1' })])
    }
  })

  test('asks once about all that no provider has reported, and bills what it is told', async () => {
    const asked: string[] = []
    const tokens: Rating['tokens'] = {
      used: async (_, answers) => {
        asked.push(answers.map(({ model }) => model).join())
        return answers.map((_, i) => ({ ...noUsage, input: 41, output: 17 + i, source: 'estimated' }))
      },
    }
    const usage = { ...noUsage, input: 5, output: 6, source: 'provider' } as const
    const call = callOf([{ model: 'one' }, { usage: () => usage }, { model: 'other' }])
    const { hooks, emitted, logged } = await settled(call, left, { prices: undefined, tokens })
    expect(asked).toEqual(['one,other'])
    expect(hooks[0]!.usage).toEqual({ ...noUsage, input: 87, output: 41, source: 'estimated' })
    expect([emitted, logged]).toEqual([hooks, []])
  })

  test('leaves a report as it is, and what cannot be counted unknown, which is logged under the call', async () => {
    const tokens: Rating['tokens'] = { used: () => Promise.reject(new Error('no such file')) }
    const usage = { ...noUsage, input: 5, output: 6, source: 'provider' } as const
    const reported = { usage: () => usage }
    const rating = { prices: undefined, tokens }
    const known = await settled(callOf([reported]), answered, rating)
    expect(known.hooks[0]!.usage).toEqual(usage)
    expect(known.logged).toEqual([])
    const failed = await settled(callOf([reported, {}]), left, rating)
    expect(failed.hooks[0]!.usage).toEqual(usage)
    expect(failed.logged).toEqual([expect.objectContaining({ request_id: 'tr_1' })])
    const unasked = await settled(callOf([reported, {}]), left, unrated)
    expect(unasked.hooks[0]!.usage).toEqual(usage)
    expect(unasked.logged).toEqual([])
  })

  test.each([
    ['nothing counts tokens', undefined],
    ['the counter fails', { used: () => Promise.reject(new Error('no such file')) }],
  ])('bills what the provider had counted of an answer that was left where %s', async (_, tokens) => {
    const counted = () => ({ ...noUsage, input: 9, output: 4, source: 'provider' }) as const
    const { hooks } = await settled(callOf([{ counted }, {}]), left, { prices: undefined, tokens })
    expect(hooks[0]!.usage).toEqual({ ...noUsage, input: 9, output: 4, source: 'estimated' })
  })

  test('takes each chunk that came behind what the provider had counted as a token', async () => {
    const counted = () => ({ ...noUsage, input: 9, output: 1, source: 'provider' }) as const
    const call = { ...callOf([{ counted }]), stream: true } as Call
    const { hooks } = await settled(call, left, unrated)
    expect(hooks[0]!.usage.output).toBe(3)
  })

  test('estimates what was sent, and not what the client asked for', async () => {
    const call = callOf([{ model: 'known' }])
    const asked: unknown[] = []
    const tokens: Rating['tokens'] = {
      used: async (request) => {
        asked.push(request.messages)
        return [{ ...noUsage, input: 1, source: 'estimated' }]
      },
    }
    const messages = [{ role: 'user', content: 'masked' }] as const
    call.trace.mayRecord({ model: 'm', messages })
    await settled(call, left, { prices: undefined, tokens })
    expect(asked).toEqual([messages])
  })
})

import { describe, expect, test } from 'vitest'
import { createPrices } from '../../plugins/models/prices.ts'
import { TokenCounter } from '../../plugins/models/tokens/counter.ts'
import { callWith } from '../../test/chain.ts'
import { ClientGone, UpstreamError } from '../errors.ts'
import { answerTexts, billed, reportedCost } from './bill.ts'
import type { Completion } from './canonical.ts'
import type { Counts, Ending, Served } from './outcome.ts'
import type { Attempt } from './trace.ts'
import { noUsage, type Usage } from './usage.ts'

const prices = createPrices({
  overrides: {
    'openai/cheap': { inputUsdPerM: 1, outputUsdPerM: 2, cachedReadUsdPerM: 0.5, callUsd: 0.001 },
    'openai/dear': { inputUsdPerM: 10, outputUsdPerM: 20, cachedReadUsdPerM: 5, callUsd: 0.01 },
  },
})

const rating = { prices, tokens: new TokenCounter() }

const used = (input: number, output: number, cachedRead = 0): Usage => ({
  ...noUsage,
  input,
  output,
  cachedRead,
  source: 'provider',
})

const failure = new UpstreamError('provider_error', 'It failed.', {
  provider: 'openai',
  model: 'cheap',
  fault: 'status',
  retryable: true,
})

interface Told {
  readonly ending?: Ending
  readonly stream?: boolean
  readonly served?: Partial<Served>
  readonly counts?: Counts
  /** The number of the attempt whose answer was taken. */
  readonly taken?: number
}

/** What is billed for these attempts. */
const bill = (attempts: readonly Partial<Attempt>[], told?: Told) => billedCall(attempts, told).bill

/** A call that is billed for these attempts. */
function billedCall(attempts: readonly Partial<Attempt>[], told: Told = {}) {
  const { ending = 'ok', stream = false, served, counts, taken } = told
  const call = callWith({ stream, messages: [{ role: 'user', content: 'How many tokens are these?' }] })
  for (const [i, attempt] of attempts.entries()) {
    call.trace.attempts.push({
      n: i + 1,
      identity: {},
      provider: 'openai',
      model: 'cheap',
      keyHint: undefined,
      startedAt: 0,
      status: 200,
      latencyMs: 1,
      error: undefined,
      reasonNext: undefined,
      usage: undefined,
      ...attempt,
    })
  }
  const answered = call.trace.attempts[(taken ?? 0) - 1]
  if (answered) call.trace.answeredBy(answered, true)
  const end = { status: 200, error: undefined, finishReason: undefined, chunks: 0, body: undefined }
  return { call, bill: billed(call, { ...end, ...served }, ending, rating, counts) }
}

describe('several attempts', () => {
  test('cost what each of them has used, part by part', () => {
    const { call, bill } = billedCall([
      { model: 'cheap', usage: () => used(1000, 100, 400) },
      { model: 'dear', usage: () => used(2000, 200, 1000) },
    ])
    const { usage, cost } = bill
    expect(usage).toEqual(used(3000, 300, 1400))
    const amounts = {
      inputNano: 600_000 + 10_000_000,
      outputNano: 200_000 + 4_000_000,
      cacheNano: 200_000 + 5_000_000,
      otherNano: 1_000_000 + 10_000_000,
    }
    const totalNano = Object.values(amounts).reduce((a, b) => a + b)
    expect(cost).toEqual({ totalNano, ...amounts, priceId: 'openai/dear', source: 'override' })
    expect(call.trace.attempts.map(({ cost }) => cost!.totalNano)).toEqual([2_000_000, 29_000_000])
  })

  test('of which one says its cost itself cost that and the price of the other', () => {
    const { cost } = bill([
      { usage: () => used(1000, 100), costUsd: () => 0.5 },
      { usage: () => used(1000, 100) },
    ])
    const totalNano = 500_000_000 + 1_000_000 + 200_000 + 1_000_000
    expect(cost).toMatchObject({ totalNano, source: 'catalogue' })
  })

  test('have no cost when the price of one is not known, and their usage all the same', () => {
    const attempts = [{ usage: () => used(10, 1) }, { model: 'unknown', usage: () => used(20, 2) }]
    for (const order of [attempts, attempts.toReversed()])
      expect(bill(order)).toEqual({ usage: used(30, 3), cost: undefined })
  })
})

describe('an attempt whose answer was not taken', () => {
  const taken = { usage: () => used(10, 1) }
  const outputOf = (lost: Partial<Attempt>, told: Told = {}): number =>
    bill([lost, taken], { taken: 2, served: { chunks: 50 }, ...told }).usage.output - 1

  test('is billed by what came of it, and not by the answer of the other', () => {
    const message = { role: 'assistant', content: 'one two three four' } as const
    const body: Completion = { choices: [{ index: 0, message, finish_reason: 'stop' }] }
    expect(outputOf({ came: () => 3 }, { stream: true })).toBe(3)
    expect(outputOf({ came: () => body })).toBeGreaterThan(2)
    expect(outputOf({ came: () => body })).toBeLessThan(10)
    expect(outputOf({})).toBe(0)
    const counts = new Map([['cheap', { input: 40, output: 50 }]])
    expect(outputOf({ came: () => 3 }, { stream: true, counts })).toBe(3)
  })

  test('is billed although the answer that was taken broke off later', () => {
    const broken = { error: failure, status: 200 }
    const { usage } = bill([{ came: () => 3 }, broken], { taken: 2, stream: true, ending: 'upstream_error' })
    expect(usage).toMatchObject({ output: 3, source: 'estimated' })
  })
})

describe('an attempt that failed', () => {
  test.each([
    ['with an error', { error: failure, status: 500 }],
    ['with a status', { status: 500 }],
    ['with the least status of a failure', { status: 400 }],
    ['before there was a status', { status: undefined }],
    ['with an error after its status', { error: failure, status: 200 }],
  ])('%s is not billed without a report', (_, failed) => {
    const success = { usage: () => used(1000, 100) }
    expect(bill([failed, success])).toEqual(bill([success]))
    expect(bill([failed], { ending: 'timeout' })).toEqual({ usage: noUsage, cost: undefined })
  })

  test('is billed with one', () => {
    const failed = { error: failure, status: 500, usage: () => used(1000, 0) }
    const { usage, cost } = bill([failed, { usage: () => used(10, 1) }])
    expect(usage).toEqual(used(1010, 1))
    expect(cost?.inputNano).toBe(1_010_000)
  })
})

describe('an answer without a report', () => {
  const left = {
    ending: 'client_abort',
    stream: true,
    served: { error: new ClientGone(), chunks: 7 },
  } as const

  test.each([
    [3, 7],
    [7, 7],
    [12, 12],
  ])(
    'of which the provider had counted %i is billed as %i tokens, not less than one a chunk',
    (counted, output) => {
      const { usage } = bill([{ counted: () => used(50, counted) }], left)
      expect(usage).toEqual({ ...used(50, output), source: 'estimated' })
    },
  )

  test('is billed by what a tokenizer counts of it, else by its chunks', () => {
    const billedBy = (output: number): Usage =>
      bill([{}], { ...left, counts: new Map([['cheap', { input: 40, output }]]) }).usage
    expect(billedBy(5)).toEqual({ ...used(40, 5), source: 'estimated' })
    expect(billedBy(0)).toEqual({ ...used(40, 7), source: 'estimated' })
    const { usage, cost } = bill([{}], left)
    expect(usage).toMatchObject({ output: 7, source: 'estimated' })
    expect(usage.input).toBeGreaterThan(4)
    expect(cost?.totalNano).toBe(usage.input * 1000 + 7 * 2000 + 1_000_000)
  })

  test('that came whole is billed by its texts', () => {
    const message = { role: 'assistant', content: 'one two three four' } as const
    const body: Completion = { choices: [{ index: 0, message, finish_reason: 'stop' }] }
    const { usage } = bill([{}], { served: { body: () => body } })
    expect(usage.output).toBeGreaterThan(2)
    expect(usage.output).toBeLessThan(10)
  })

  test('that broke off on the way is not billed', () => {
    const { usage } = bill([{ counted: () => used(50, 3) }], { ...left, ending: 'upstream_error' })
    expect(usage).toEqual(noUsage)
  })

  test('or with one that cannot be read is the same', () => {
    const unreadable = (): never => {
      throw new Error('nonsense')
    }
    const attempts = [{ usage: unreadable, counted: unreadable, costUsd: unreadable }]
    expect(bill(attempts, left)).toEqual(bill([{}], left))
  })
})

test('an answer that no provider gave has the usage that it says, and no cost', () => {
  const usage = { prompt_tokens: 11, completion_tokens: 2, total_tokens: 13 }
  expect(bill([], { served: { body: () => ({ usage }) } })).toEqual({ usage: used(11, 2), cost: undefined })
})

test('the texts of an answer are counted once each, and nothing else', () => {
  const message = { role: 'assistant', content: 'one' } as const
  expect(answerTexts({ choices: [{ index: 0, message, finish_reason: 'stop' }] })).toEqual(['one'])
  expect(answerTexts(undefined)).toEqual([])
})

test.each([0, 0.25, 100_000])('a provider is believed that says a call cost %d dollars', (usd) => {
  const totalNano = usd * 1e9
  const none = { inputNano: 0, outputNano: 0, cacheNano: 0 }
  const names = { priceId: 'provider', source: 'provider' }
  expect(reportedCost(usd)).toEqual({ ...none, ...names, totalNano, otherNano: totalNano })
})

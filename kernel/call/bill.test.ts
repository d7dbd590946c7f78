import { describe, expect, test } from 'vitest'
import type { Completion } from '../../kit/canonical/forms.ts'
import { noUsage, type Usage } from '../../kit/canonical/usage.ts'
import { ClientGone, GatewayError, UpstreamError } from '../../kit/errors.ts'
import { createPrices } from '../../plugins/models/prices.ts'
import { TokenCounter } from '../../plugins/models/tokens/counter.ts'
import { usedBy } from '../../plugins/models/tokens/used.ts'
import { callWith } from '../../test/chain.ts'
import type { Attempt } from './attempt.ts'
import { answerOf, makeBill, reportedCost } from './bill.ts'
import type { Served } from './outcome.ts'

const prices = createPrices({
  overrides: {
    'openai/cheap': { inputUsdPerM: 1, outputUsdPerM: 2, cachedReadUsdPerM: 0.5, callUsd: 0.001 },
    'openai/dear': { inputUsdPerM: 10, outputUsdPerM: 20, cachedReadUsdPerM: 5, callUsd: 0.01 },
  },
})

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

/** Tokens of a request and of the texts of an answer, by the names of models that a tokenizer is there for. */
type Counts = ReadonlyMap<string, { readonly input: number; readonly output: number }>

const estimator = new TokenCounter()

const counterOf = (counts: Counts): Parameters<typeof usedBy>[2] => ({
  knows: (model) => counts.has(model),
  async count({ model }, texts = []) {
    const { input, output } = counts.get(model)!
    const tokens = { tokens: input, tools: 0, images: 0, by: 'qwen', quality: 'tokenizer' } as const
    return { input: tokens, output: texts.length === 0 ? 0 : output }
  },
  estimate: (request) => estimator.estimate(request),
  estimator: (model) => estimator.estimator(model),
})

interface Told {
  readonly stream?: boolean
  readonly served?: Partial<Served>
  readonly counts?: Counts
  /** The number of the attempt whose answer was taken. */
  readonly taken?: number
}

/** What is billed for these attempts. */
const bill = async (attempts: readonly Partial<Attempt>[], told?: Told) => {
  const { usage, cost } = (await billedCall(attempts, told)).bill
  return { usage, cost }
}

/** A call that is billed for these attempts, with estimates for those that nothing was reported of. */
async function billedCall(attempts: readonly Partial<Attempt>[], told: Told = {}) {
  const { stream = false, served, counts = new Map(), taken } = told
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
  const end: Served = {
    ...{ status: 200, error: undefined, finishReason: undefined, chunks: 0, body: undefined },
    ...served,
  }
  const estimates = new Map<Attempt, Usage>()
  for (const attempt of makeBill(call, end, prices).unreported ?? [])
    estimates.set(attempt, await usedBy(answerOf(attempt, call, end), call.request, counterOf(counts)))
  return { call, bill: makeBill(call, end, prices, estimates) }
}

describe('several attempts', () => {
  test('cost what each of them has used, part by part', async () => {
    const { call, bill } = await billedCall([
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

  test('of which one says its cost itself cost that and the price of the other', async () => {
    const { cost } = await bill([
      { usage: () => used(1000, 100), costUsd: () => 0.5 },
      { usage: () => used(1000, 100) },
    ])
    const totalNano = 500_000_000 + 1_000_000 + 200_000 + 1_000_000
    expect(cost).toMatchObject({ totalNano, source: 'catalogue' })
  })

  test('cost what is known where the price of one is not, with a mark, and their usage is that of all', async () => {
    const known = { usage: () => used(10, 1) }
    const attempts = [known, { model: 'unknown', usage: () => used(20, 2) }]
    const { cost } = await bill([known])
    for (const order of [attempts, attempts.toReversed()]) {
      const { call, bill } = await billedCall(order)
      expect(bill).toMatchObject({ usage: used(30, 3), cost: { ...cost, unpriced: 1 } })
      expect(call.trace.attempts.filter(({ cost }) => cost === undefined)).toHaveLength(1)
    }
  })

  test('say how many of them have no price, estimated ones included, and none that used nothing', async () => {
    const known = { usage: () => used(10, 1) }
    const unknown = { model: 'unknown', usage: () => used(20, 2) }
    const lost = { model: 'unknown', came: () => 3 }
    const { cost } = await bill([unknown, lost, known], { taken: 3, stream: true })
    expect(cost?.unpriced).toBe(2)
    for (const spare of [
      { model: 'unknown', usage: () => used(0, 0) },
      { model: 'unknown', error: failure, status: 500 },
      { model: 'unknown', usage: () => used(20, 2), costUsd: () => 0.5 },
    ])
      expect((await bill([spare, known])).cost).not.toHaveProperty('unpriced')
  })

  test('have no cost where no price is known', async () => {
    const unknown = { model: 'unknown', usage: () => used(20, 2) }
    expect(await bill([unknown, unknown])).toEqual({ usage: used(40, 4), cost: undefined })
  })
})

describe('an attempt whose answer was not taken', () => {
  const taken = { usage: () => used(10, 1) }
  const outputOf = async (lost: Partial<Attempt>, told: Told = {}): Promise<number> =>
    (await bill([lost, taken], { taken: 2, served: { chunks: 50 }, ...told })).usage.output - 1

  test('is billed by what came of it, and not by the answer of the other', async () => {
    const message = { role: 'assistant', content: 'one two three four' } as const
    const body: Completion = { choices: [{ index: 0, message, finish_reason: 'stop' }] }
    expect(await outputOf({ came: () => 3 }, { stream: true })).toBe(3)
    expect(await outputOf({ came: () => body })).toBeGreaterThan(2)
    expect(await outputOf({ came: () => body })).toBeLessThan(10)
    expect(await outputOf({})).toBe(0)
    const counts = new Map([['cheap', { input: 40, output: 50 }]])
    expect(await outputOf({ came: () => 3 }, { stream: true, counts })).toBe(3)
  })

  test('is billed although the answer that was taken broke off later', async () => {
    const broken = { error: failure, status: 200 }
    const told = { taken: 2, stream: true, served: { error: failure } }
    const { usage } = await bill([{ came: () => 3 }, broken], told)
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
  ])('%s is not billed without a report', async (_, failed) => {
    const success = { usage: () => used(1000, 100) }
    expect(await bill([failed, success])).toEqual(await bill([success]))
    const error = new GatewayError('provider_error', 'It took too long.', { type: 'timeout' })
    expect(await bill([failed], { served: { error } })).toEqual({ usage: noUsage, cost: undefined })
  })

  test('is billed with one', async () => {
    const failed = { error: failure, status: 500, usage: () => used(1000, 0) }
    const { usage, cost } = await bill([failed, { usage: () => used(10, 1) }])
    expect(usage).toEqual(used(1010, 1))
    expect(cost?.inputNano).toBe(1_010_000)
  })
})

describe('an answer without a report', () => {
  const left = {
    stream: true,
    served: { error: new ClientGone(), chunks: 7 },
  } as const

  test.each([
    [3, 7],
    [7, 7],
    [12, 12],
  ])(
    'of which the provider had counted %i is billed as %i tokens, not less than one a chunk',
    async (counted, output) => {
      const { usage } = await bill([{ counted: () => used(50, counted) }], left)
      expect(usage).toEqual({ ...used(50, output), source: 'estimated' })
    },
  )

  test('is billed by what a tokenizer counts of it, else by its chunks', async () => {
    const message = { role: 'assistant', content: 'one two' } as const
    const body = (): Completion => ({ choices: [{ index: 0, message, finish_reason: 'stop' }] })
    const billedBy = async (output: number): Promise<Usage> => {
      const counts = new Map([['cheap', { input: 40, output }]])
      return (await bill([{}], { ...left, served: { ...left.served, body }, counts })).usage
    }
    expect(await billedBy(5)).toEqual({ ...used(40, 5), source: 'estimated' })
    expect(await billedBy(0)).toEqual({ ...used(40, 7), source: 'estimated' })
    const { usage, cost } = await bill([{}], left)
    expect(usage).toMatchObject({ output: 7, source: 'estimated' })
    expect(usage.input).toBeGreaterThan(4)
    expect(cost?.totalNano).toBe(usage.input * 1000 + 7 * 2000 + 1_000_000)
  })

  test('that came whole is billed by its texts', async () => {
    const message = { role: 'assistant', content: 'one two three four' } as const
    const body: Completion = { choices: [{ index: 0, message, finish_reason: 'stop' }] }
    const { usage } = await bill([{}], { served: { body: () => body } })
    expect(usage.output).toBeGreaterThan(2)
    expect(usage.output).toBeLessThan(10)
  })

  test('that broke off on the way is not billed', async () => {
    const broken = { ...left, served: { error: failure, chunks: 7 } }
    const { usage } = await bill([{ counted: () => used(50, 3) }], broken)
    expect(usage).toEqual(noUsage)
  })

  test('or with one that cannot be read is the same', async () => {
    const unreadable = (): never => {
      throw new Error('nonsense')
    }
    const attempts = [{ usage: unreadable, counted: unreadable, costUsd: unreadable }]
    expect(await bill(attempts, left)).toEqual(await bill([{}], left))
  })
})

test('an answer that no provider gave has the usage that it says, and no cost', async () => {
  const usage = { prompt_tokens: 11, completion_tokens: 2, total_tokens: 13 }
  expect(await bill([], { served: { body: () => ({ usage }) } })).toEqual({
    usage: used(11, 2),
    cost: undefined,
  })
})

test.each([0, 0.25, 100_000])('a provider is believed that says a call cost %d dollars', (usd) => {
  const totalNano = usd * 1e9
  const none = { inputNano: 0, outputNano: 0, cacheNano: 0 }
  const names = { priceId: 'provider', source: 'provider' }
  expect(reportedCost(usd)).toEqual({ ...none, ...names, totalNano, otherNano: totalNano })
})

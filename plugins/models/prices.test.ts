import { calcPrice } from '@pydantic/genai-prices'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reportedCost } from '../../kernel/call/bill.ts'
import { noUsage, type Usage } from '../../kit/canonical/usage.ts'
import { nanoOf, usdOf } from '../../kit/costs/money.ts'
import { amountsOf } from './prices/rates.ts'
import { createPrices } from './prices.ts'

const usage = (part: Partial<Usage>): Usage => ({ ...noUsage, source: 'provider', ...part })
const noon = Date.parse('2026-06-15T12:00:00Z')
const priceIds = new Map([
  ['gemini', 'google'],
  ['vertex', 'google'],
  ['xai', 'x-ai'],
  ['bedrock', 'aws'],
])
const prices = createPrices({ priceId: (provider) => priceIds.get(provider) ?? provider })

/** A usage whose parts fit into their wholes, as providers report it. */
const anyUsage = fc
  .record({
    plainIn: fc.nat(300_000),
    cachedRead: fc.nat(300_000),
    cacheWrite5m: fc.nat(50_000),
    cacheWrite1h: fc.nat(50_000),
    audioIn: fc.nat(10_000),
    imageIn: fc.nat(10_000),
    plainOut: fc.nat(100_000),
    reasoning: fc.nat(100_000),
    audioOut: fc.nat(10_000),
  })
  .map(({ plainIn, plainOut, ...parts }) =>
    usage({
      ...parts,
      input:
        plainIn + parts.cachedRead + parts.cacheWrite5m + parts.cacheWrite1h + parts.audioIn + parts.imageIn,
      output: plainOut + parts.reasoning + parts.audioOut,
    }),
  )

const known = [
  ['openai', 'gpt-4o-mini', 'openai'],
  ['openai', 'gpt-4o-2024-08-06', 'openai'],
  ['openai', 'text-embedding-3-small', 'openai'],
  ['anthropic', 'claude-sonnet-4-5-20250929', 'anthropic'],
  ['gemini', 'gemini-2.5-pro', 'google'],
  ['vertex', 'gemini-2.5-flash', 'google'],
  ['groq', 'llama-3.3-70b-versatile', 'groq'],
  ['mistral', 'mistral-large-latest', 'mistral'],
  ['deepseek', 'deepseek-chat', 'deepseek'],
  ['together', 'meta-llama/Llama-3.3-70B-Instruct-Turbo', 'together'],
  ['fireworks', 'accounts/fireworks/models/deepseek-v3p2', 'fireworks'],
  ['perplexity', 'sonar', 'perplexity'],
  ['xai', 'grok-4', 'x-ai'],
  ['openrouter', 'anthropic/claude-sonnet-4.5', 'openrouter'],
  ['cohere', 'command-r-plus', 'cohere'],
  ['azure', 'gpt-4o', 'azure'],
  ['bedrock', 'us.anthropic.claude-3-5-sonnet-20241022-v2:0', 'aws'],
] as const

describe('the cost of a call', () => {
  it.each(known)('on %s with %s is what the price data says', (provider, model, providerId) => {
    const output = model.includes('embedding') ? 0 : 300
    const expected = calcPrice({ input_tokens: 1200, output_tokens: output }, model, {
      providerId,
      timestamp: new Date(noon),
    })
    const cost = prices.cost(provider, model, usage({ input: 1200, output }), noon)
    expect(expected?.total_price).toBeGreaterThan(0)
    expect(usdOf(cost?.totalNano ?? 0)).toBeCloseTo(expected?.total_price ?? 0, 8)
    expect(cost?.source).toBe('catalogue')
  })

  it('has the price of each class of tokens', () => {
    const tokens = {
      input: 10_000,
      cachedRead: 6000,
      cacheWrite5m: 1000,
      cacheWrite1h: 500,
      output: 800,
      reasoning: 300,
    }
    const expected = calcPrice(
      {
        input_tokens: 10_000,
        cache_read_tokens: 6000,
        cache_write_tokens: 1500,
        cache_write_5m_tokens: 1000,
        cache_write_1h_tokens: 500,
        output_tokens: 800,
      },
      'claude-sonnet-4-5',
      { providerId: 'anthropic' },
    )
    const cost = prices.cost('anthropic', 'claude-sonnet-4-5', usage(tokens))
    expect(cost).toEqual({
      inputNano: 2500 * 3000,
      cacheNano: 6000 * 300 + 1000 * 3750 + 500 * 6000,
      outputNano: 800 * 15_000,
      otherNano: 0,
      totalNano: nanoOf(expected?.total_price ?? 0),
      priceId: 'anthropic/claude-sonnet-4-5',
      source: 'catalogue',
    })
  })

  it('counts the price of a long prompt for the whole call', () => {
    const short = prices.cost('gemini', 'gemini-2.5-pro', usage({ input: 200_000, output: 10 }))
    const long = prices.cost('gemini', 'gemini-2.5-pro', usage({ input: 200_001, cachedRead: 1, output: 10 }))
    expect(short).toMatchObject({ inputNano: 200_000 * 1250, outputNano: 10 * 10_000 })
    expect(long).toMatchObject({ inputNano: 200_000 * 2500, cacheNano: 250, outputNano: 10 * 15_000 })
  })

  it('depends on the hour where the price does', () => {
    const at = (time: string) => {
      const timestamp = new Date(`2026-06-15T${time}Z`)
      const expected = calcPrice({ input_tokens: 1e6, output_tokens: 0 }, 'deepseek-chat', {
        providerId: 'deepseek',
        timestamp,
      })
      const cost = prices.cost('deepseek', 'deepseek-chat', usage({ input: 1e6 }), timestamp.getTime())
      expect(cost?.totalNano).toBe(nanoOf(expected?.total_price ?? 0))
      return cost?.totalNano
    }
    expect(at('12:00:00')).not.toBe(at('20:00:00'))
    expect(at('16:29:59')).not.toBe(at('16:30:00'))
  })

  it('includes what a call costs beside its tokens', () => {
    const cost = prices.cost('perplexity', 'sonar', usage({ input: 10, output: 10 }))
    expect(cost?.otherNano).toBeGreaterThan(0)
    expect(cost?.totalNano).toBe(20 * 1000 + (cost?.otherNano ?? 0))
  })

  it('is the exact sum of its parts, in whole nano-dollars', () => {
    fc.assert(
      fc.property(anyUsage, fc.constantFrom(...known), (tokens, [provider, model]) => {
        const cost = prices.cost(provider, model, tokens, noon)
        fc.pre(cost !== undefined)
        const parts = [cost.inputNano, cost.outputNano, cost.cacheNano, cost.otherNano]
        expect(parts.every((part) => Number.isSafeInteger(part) && part >= 0)).toBe(true)
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(cost.totalNano)
      }),
    )
  })

  it('counts every token once', () => {
    const flat = createPrices({ overrides: { 'any/model': { inputUsdPerM: 1000, outputUsdPerM: 1000 } } })
    fc.assert(
      fc.property(anyUsage, (tokens) => {
        const cost = flat.cost('any', 'model', tokens)
        expect(cost?.totalNano).toBe((tokens.input + tokens.output) * 1_000_000)
      }),
    )
  })

  it('never gives anything back for parts that exceed their whole', () => {
    const cost = prices.cost(
      'openai',
      'gpt-4o',
      usage({ input: 10, cachedRead: 50, output: 5, reasoning: 9 }),
    )
    expect(cost).toMatchObject({ inputNano: 0, cacheNano: 50 * 1250, outputNano: 9 * 10_000 })
  })
})

describe('an unknown cost', () => {
  it.each([
    ['openai', 'no-such-model'],
    ['openai', 'gpt-4o-of-my-own'],
    ['openai', ''],
    ['openai', 'gpt-4o'.padEnd(300, '-')],
    ['no-such-provider', 'gpt-4o'],
    ['my-openai', 'gpt-4o'],
    ['litellm', 'openai/gpt-4o'],
    ['__proto__', 'gpt-4o'],
    ['ollama', 'llama3.2'],
  ])('is undefined, not a guess: %s/%s', (provider, model) => {
    expect(prices.cost(provider, model, usage({ input: 10, output: 10 }))).toBeUndefined()
    expect(prices.describe(provider, model)).toBeUndefined()
  })

  it('is undefined for tokens that the price data has no price for', () => {
    expect(prices.cost('openai', 'text-embedding-3-small', usage({ input: 10, output: 10 }))).toBeUndefined()
    expect(prices.cost('openai', 'whisper-1', usage({ input: 10 }))).toBeUndefined()
  })

  it('is undefined when the usage is unknown', () => {
    expect(prices.cost('perplexity', 'sonar', noUsage)).toBeUndefined()
  })
})

describe('overrides', () => {
  const own = createPrices({
    overrides: {
      'openai/gpt-4o': { inputUsdPerM: 1, outputUsdPerM: 2, cachedReadUsdPerM: 0.5, callUsd: 0.001 },
      'mycorp/*': { inputUsdPerM: 3, outputUsdPerM: 3 },
      'mycorp/large-*': {
        inputUsdPerM: 4,
        outputUsdPerM: 8,
        cacheWrite5mUsdPerM: 5,
        audioInUsdPerM: 40,
        audioOutUsdPerM: 80,
        imageInUsdPerM: 6,
        reasoningUsdPerM: 9,
      },
      'mycorp/gift': { inputUsdPerM: 0, outputUsdPerM: 0 },
    },
    priceId: (provider) => (provider === 'openai-eu' ? 'openai' : provider),
  })

  it('win over the price data', () => {
    expect(own.cost('openai', 'gpt-4o', usage({ input: 100, cachedRead: 40, output: 10 }))).toEqual({
      inputNano: 60_000,
      cacheNano: 20_000,
      outputNano: 20_000,
      otherNano: 1_000_000,
      totalNano: 1_100_000,
      priceId: 'openai/gpt-4o',
      source: 'override',
    })
    expect(own.cost('openai', 'gpt-4o-mini', usage({ input: 1 }))?.source).toBe('catalogue')
  })

  it('apply by the longest pattern, and by the exact name before any', () => {
    const idOf = (model: string) => own.cost('mycorp', model, usage({ input: 1 }))?.priceId
    expect(idOf('small')).toBe('mycorp/*')
    expect(idOf('large-2')).toBe('mycorp/large-*')
    expect(idOf('gift')).toBe('mycorp/gift')
  })

  it('and the price data win over a provider that costs nothing', () => {
    const free = createPrices({
      overrides: { 'gift/dear': { inputUsdPerM: 1, outputUsdPerM: 1 } },
      isFree: (provider) => provider === 'gift' || provider === 'openai',
    })
    const nanoOfOne = (provider: string, model: string) =>
      free.cost(provider, model, usage({ input: 1, audioIn: 1 }))?.totalNano
    expect(nanoOfOne('gift', 'dear')).toBe(1000)
    expect(nanoOfOne('gift', 'any')).toBe(0)
    expect(nanoOfOne('openai', 'gpt-4o')).toBeGreaterThan(0)
    expect(nanoOfOne('other', 'any')).toBeUndefined()
    expect(free.describe('gift', 'any')).toMatchObject({ priceId: 'gift/*', source: 'catalogue' })
  })

  it('may price every class of tokens', () => {
    const tokens = {
      input: 100,
      cacheWrite5m: 10,
      cacheWrite1h: 10,
      audioIn: 10,
      imageIn: 10,
      output: 50,
      reasoning: 10,
      audioOut: 10,
    }
    expect(own.cost('mycorp', 'large-2', usage(tokens))).toMatchObject({
      inputNano: 60 * 4000,
      cacheNano: 10 * 5000 + 10 * 8000,
      outputNano: 30 * 8000 + 10 * 9000,
      otherNano: 10 * 40_000 + 10 * 6000 + 10 * 80_000,
    })
  })

  it('price an hour in the cache by what five minutes cost, where they do not say, at every length', () => {
    const tiers = [{ start: 200_000, price: 10 }]
    const tiered = { input: 4, output: 8, cacheWrite5m: { base: 5, tiers } }
    const cacheNano = (input: number) => amountsOf(tiered, usage({ input, cacheWrite1h: 100 }))?.cacheNano
    expect([cacheNano(1000), cacheNano(300_000)]).toEqual([100 * 8000, 100 * 16_000])
    const flat = amountsOf({ input: 4 }, usage({ input: 100, cacheWrite1h: 100 }))
    expect(flat).toMatchObject({ cacheNano: 400_000 })
  })

  it('of zero are a known cost of nothing', () => {
    expect(own.cost('mycorp', 'gift', usage({ input: 10 }))).toMatchObject({
      totalNano: 0,
      source: 'override',
    })
  })

  it('of provider names price a provider as the one it stands for', () => {
    const tokens = usage({ input: 100, output: 10 })
    expect(own.cost('openai-eu', 'gpt-4o-mini', tokens)).toEqual(own.cost('openai', 'gpt-4o-mini', tokens))
  })
})

describe('describe', () => {
  it('tells prices by the million tokens and where they are from', () => {
    expect(prices.describe('gemini', 'gemini-2.5-pro')).toMatchObject({
      priceId: 'google/gemini-2.5-pro',
      source: 'catalogue',
      origin: expect.stringMatching(/^@pydantic\/genai-prices \d+\.\d+\.\d+$/),
      rates: {
        input: { base: 1.25, tiers: [{ start: 200_000, price: 2.5 }] },
        cachedRead: { base: 0.125, tiers: [{ start: 200_000, price: 0.25 }] },
      },
    })
    expect(prices.describe('anthropic', 'claude-3-haiku')).toMatchObject({
      contextWindow: 200_000,
      rates: { input: 0.25, output: 1.25, cacheWrite5m: 0.3, cacheWrite1h: 0.5 },
    })
  })
})

describe('a cost the provider reports', () => {
  it('is taken as it is', () => {
    expect(reportedCost(0.000123)).toEqual({
      totalNano: 123_000,
      inputNano: 0,
      outputNano: 0,
      cacheNano: 0,
      otherNano: 123_000,
      priceId: 'provider',
      source: 'provider',
    })
  })
})

describe('money', () => {
  it('survives the way to dollars and back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2e15 }), (nano) => {
        expect(nanoOf(usdOf(nano))).toBe(nano)
      }),
    )
  })
})

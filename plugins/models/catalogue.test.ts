import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noUsage } from '../../kit/canonical/usage.ts'
import { catalogueFile } from './catalogue/entry.ts'
import { CatalogueError } from './catalogue/problem.ts'
import { readCatalogue } from './catalogue/sources/read.ts'
import { Catalogue, type CatalogueOptions, catalogueFileOf, shippedCatalogue } from './catalogue.ts'
import { createPrices } from './prices.ts'

let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-catalogue-'))
})

afterEach(() => rm(dataDir, { recursive: true }))

const open = (options: Partial<CatalogueOptions> = {}) => Catalogue.open({ dataDir, ...options })
const load = (models: object) =>
  writeFile(
    catalogueFileOf(dataDir),
    JSON.stringify({ format: 'switchyard-catalogue/1', source: 'a test', date: '2026-11-21', models }),
  )

const usage = { ...noUsage, input: 1_000_000, output: 1_000_000, source: 'provider' } as const

describe('the catalogue that comes with the gateway', () => {
  it('is what its own rules ask for, dated and with its source', async () => {
    const shipped = shippedCatalogue()
    expect(catalogueFile.safeParse(shipped).error).toBeUndefined()
    expect(Object.keys(shipped.models).length).toBeGreaterThan(1000)
    expect(shipped.source).toContain('LiteLLM')
  })

  it('knows limits and capabilities, by the name of the provider or that of the price data, whatever the case', async () => {
    const catalogue = await open({ priceId: (name) => (name === 'gemini' ? 'google' : name) })
    expect(catalogue.describe('openai', 'gpt-4o')).toMatchObject({
      contextWindow: 128_000,
      maxOutputTokens: 16_384,
      capabilities: { vision: true, tools: true, json_schema: true },
      origin: expect.stringMatching(/LiteLLM.*, of \d{4}-\d\d-\d\d$/),
    })
    expect(catalogue.describe('gemini', 'Gemini-2.5-Pro')).toMatchObject({ contextWindow: 1_048_576 })
    expect(catalogue.supports('gemini', 'gemini-2.5-pro', 'audio_input')).toBe(true)
  })

  it('has the prices of classes that the price package lacks, where the two agree on the others', async () => {
    const catalogue = await open()
    const prices = createPrices({ catalogue })
    const rates = { input: 2.5, output: 10, audioIn: 40, audioOut: 80 }
    expect(prices.describe('openai', 'gpt-4o-audio-preview-2024-12-17')).toMatchObject({
      rates,
      origin: expect.stringMatching(/^@pydantic\/genai-prices .*; LiteLLM.*, for audioIn, audioOut$/),
    })
    expect(
      createPrices().describe('openai', 'gpt-4o-audio-preview-2024-12-17')?.rates.audioIn,
    ).toBeUndefined()
    expect(prices.describe('openai', 'gpt-4o')?.origin).toMatch(/^@pydantic\/genai-prices [\d.]+$/)
  })

  it('knows nothing of what it does not list, and does not guess from names that are alike', async () => {
    const catalogue = await open()
    expect(catalogue.describe('openai', 'gpt-4o-of-tomorrow')).toBeUndefined()
    expect(catalogue.supports('openai', 'gpt-4o', 'audio_output')).toBeUndefined()
    const prices = createPrices({ catalogue })
    expect(prices.cost('nobody', 'nothing-1', usage)).toBeUndefined()
  })
})

describe('a catalogue that the operator has loaded', () => {
  it('outweighs the one that came along, prices included, as soon as it is read again', async () => {
    const catalogue = await open()
    const prices = createPrices({ catalogue })
    expect(prices.cost('openai', 'gpt-4o', usage)?.totalNano).toBe(12_500_000_000)
    await load({
      'openai/gpt-4o': { operation: 'chat', context_window: 1000, usd_per_m: { input: 1, output: 2 } },
    })
    await catalogue.rescan()
    expect(prices.cost('openai', 'gpt-4o', usage)?.totalNano).toBe(3_000_000_000)
    expect(prices.describe('openai', 'gpt-4o')).toMatchObject({
      contextWindow: 1000,
      origin: 'a test, of 2026-11-21',
    })
    expect(catalogue.describe('openai', 'gpt-4.1')).toMatchObject({ contextWindow: 1_047_576 })
  })

  it('that is broken is left out, and its reason is told', async () => {
    const told: unknown[] = []
    await load({ 'openai/gpt-4o': { operation: 'chat', context_window: -1 } })
    const catalogue = await open({
      log: { error: (fields: unknown) => void told.push(fields), warn: () => {} },
    })
    expect(catalogue.problem).toContain('models › openai/gpt-4o › context_window')
    expect(told).toHaveLength(1)
    expect(catalogue.describe('openai', 'gpt-4o')).toMatchObject({ contextWindow: 128_000 })
    await load({ 'openai/gpt-4o': { operation: 'chat' } })
    await catalogue.rescan()
    expect(catalogue.problem).toBeUndefined()
  })
})

it('a loaded catalogue that is older than the one that came along is in use, and warned of', async () => {
  const told: unknown[] = []
  const log = { error: () => {}, warn: (fields: unknown) => void told.push(fields) }
  await load({ 'openai/gpt-4o': { operation: 'chat' } })
  await open({ log })
  expect(told).toEqual([])
  const old = { format: 'switchyard-catalogue/1', source: 'a test', date: '2025-01-01' }
  const models = { 'openai/gpt-4o': { operation: 'chat', context_window: 1000 } }
  await writeFile(catalogueFileOf(dataDir), JSON.stringify({ ...old, models }))
  const catalogue = await open({ log })
  expect(told).toEqual([{ loaded: '2025-01-01', shipped: expect.any(String) }])
  expect(catalogue.describe('openai', 'gpt-4o')).toMatchObject({ contextWindow: 1000 })
})

it('what service.yaml says outweighs both, field by field, and needs no model in the catalogue', async () => {
  const catalogue = await open({
    overrides: {
      'openai/gpt-4o': { contextWindow: 64_000, maxOutputTokens: undefined, capabilities: { vision: false } },
      'mycorp/*': { contextWindow: 32_000, maxOutputTokens: 4000, capabilities: undefined },
    },
  })
  expect(catalogue.describe('openai', 'gpt-4o')).toMatchObject({
    contextWindow: 64_000,
    maxOutputTokens: 16_384,
    capabilities: { vision: false, tools: true },
    origin: expect.stringContaining('service.yaml; LiteLLM'),
  })
  expect(catalogue.describe('mycorp', 'any')).toMatchObject({ contextWindow: 32_000, maxOutputTokens: 4000 })
})

describe('a published file', () => {
  const read = (data: unknown) => readCatalogue(JSON.stringify(data), { date: '2026-11-21' }).models

  it('of LiteLLM becomes models with prices for a million tokens, longer prompts and caches by age', () => {
    const models = read({
      sample_spec: { litellm_provider: 'one of …', max_input_tokens: 'most tokens' },
      'gemini/g-1': {
        litellm_provider: 'gemini',
        mode: 'chat',
        max_input_tokens: 1000,
        max_output_tokens: 100,
        input_cost_per_token: 1.25e-6,
        input_cost_per_token_above_200k_tokens: 2.5e-6,
        output_cost_per_token: 1e-5,
        cache_creation_input_token_cost: 2e-6,
        cache_creation_input_token_cost_above_1hr: 4e-6,
        supports_vision: true,
        supports_reasoning: false,
      },
      'azure/eu/gpt-9': { litellm_provider: 'azure', mode: 'chat' },
      'dashscope/q': {
        litellm_provider: 'dashscope',
        mode: 'chat',
        tiered_pricing: [
          { range: [0, 1000], input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
          { range: [1000, 2000], input_cost_per_token: 3e-6, output_cost_per_token: 4e-6 },
        ],
      },
      'dall-e-9': { litellm_provider: 'openai', mode: 'image_generation' },
      'free-1': {
        litellm_provider: 'openai',
        mode: 'chat',
        input_cost_per_token: 0,
        output_cost_per_token: 0,
      },
      'other/m': { litellm_provider: 'somebody-else', mode: 'chat' },
    })
    expect(models).toEqual({
      'google/g-1': {
        operation: 'chat',
        context_window: 1000,
        max_output_tokens: 100,
        capabilities: { vision: true, reasoning: false },
        usd_per_m: {
          input: { base: 1.25, tiers: [{ start: 200_000, price: 2.5 }] },
          output: 10,
          cache_write_5m: 2,
          cache_write_1h: 4,
        },
      },
      'dashscope/q': {
        operation: 'chat',
        capabilities: {},
        usd_per_m: {
          input: { base: 1, tiers: [{ start: 1000, price: 3 }] },
          output: { base: 2, tiers: [{ start: 1000, price: 4 }] },
        },
      },
      'openai/free-1': { operation: 'chat', capabilities: {} },
    })
  })

  it('of models.dev becomes the same', () => {
    const models = read({
      google: {
        id: 'google',
        models: {
          'g-1': {
            id: 'g-1',
            reasoning: true,
            tool_call: true,
            structured_output: true,
            modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
            cost: { input: 1.25, output: 10, cache_read: 0.3, context_over_200k: { input: 2.5, output: 15 } },
            limit: { context: 1000, output: 100 },
          },
        },
      },
      'somebody-else': { models: { m: { id: 'm' } } },
    })
    expect(models).toEqual({
      'google/g-1': {
        operation: 'chat',
        context_window: 1000,
        max_output_tokens: 100,
        capabilities: {
          vision: true,
          audio_input: false,
          audio_output: false,
          video: false,
          files: true,
          tools: true,
          reasoning: true,
          json_schema: true,
          prompt_cache: true,
        },
        usd_per_m: {
          input: { base: 1.25, tiers: [{ start: 200_000, price: 2.5 }] },
          output: { base: 10, tiers: [{ start: 200_000, price: 15 }] },
          cached_read: 0.3,
        },
      },
    })
  })

  it.each([
    ['that is not JSON', '{', /not JSON/],
    ['of another kind', '{"a": 1}', /neither/],
    ['that is a list', '[]', /not an object/],
    ['without a model that is known', '{"x": {"litellm_provider": "nobody"}}', /no model/],
    ['with a price below nothing', priced(-1), /openai\/m › usd_per_m/],
    [
      'with a limit that is no number',
      '{"m": {"litellm_provider": "openai", "max_input_tokens": "9"}}',
      /^m › max/,
    ],
  ])('%s is refused', (_, text, reason) => {
    const run = () => readCatalogue(text, { date: '2026-11-21' })
    expect(run).toThrow(CatalogueError)
    expect(run).toThrow(reason)
  })
})

function priced(usd: number): string {
  const item = { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: usd }
  return JSON.stringify({ m: item })
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bareChain } from './bare.ts'
import { type GatewayOptions, startGateway, type TestGateway } from './harness.ts'
import { anthropic } from './upstream/anthropic/index.ts'
import {
  bedrock,
  cohere,
  gemini,
  openai,
  type Script,
  startUpstream,
  type Upstream,
  type Wire,
} from './upstream/index.ts'

const wires: [Wire, ...Wire[]] = [openai, anthropic, gemini, cohere, bedrock]
const key = 'AKIDEXAMPLE00000001:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'

let folder: string
let upstreams: ReadonlyMap<string, Upstream>
let options: GatewayOptions
let gateway: TestGateway
let user: { userId: string; key: string }
/** Calls so far. */
let made = 0

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'odd-figures-'))
  upstreams = new Map(
    await Promise.all(
      wires.map(
        async (wire) =>
          [wire.name, await startUpstream({ wires: [wire], apiKey: [], strict: false })] as const,
      ),
    ),
  )
  const entries = dialects.map(
    ({ provider, wire }) => [provider, { base_url: upstreams.get(wire)!.baseUrl(), api_key: key }] as const,
  )
  options = { dataDir: folder, config: { providers: Object.fromEntries(entries) } }
  gateway = await startGateway(options)
  await bareChain(gateway)
  user = await gateway.signUp()
})

afterAll(async () => {
  await gateway.close()
  for (const upstream of upstreams.values()) await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

/** What a counter may be given as in JSON, and mostly should not. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(1e300, Number.MAX_VALUE, 2 ** 53 - 1, 2 ** 53, 1e15, -1, -1e300, 0.5, 1e-300),
  fc.constantFrom<unknown>(null, '12', '1e300', '', true, [], {}, [1]),
  fc.nat(5000),
  fc.double(),
)

/** A report in which each field is there or not, and holds anything. */
const counts = (...names: string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, odd])), { requiredKeys: [] })
const within = (field: string, inner: fc.Arbitrary<unknown>) =>
  fc.record(
    { [field]: fc.oneof({ weight: 4, arbitrary: inner }, { weight: 1, arbitrary: odd }) },
    { requiredKeys: [] },
  )
const merged = (...parts: fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((all): Record<string, unknown> => Object.assign({}, ...all))

const openaiUsage = merged(
  counts(
    'prompt_tokens',
    'completion_tokens',
    'total_tokens',
    'prompt_cache_hit_tokens',
    'cost',
    'estimated_cost',
  ),
  within('cost', counts('total_cost')),
  within(
    'prompt_tokens_details',
    counts('cached_tokens', 'audio_tokens', 'image_tokens', 'cache_write_5m_tokens', 'cache_write_1h_tokens'),
  ),
  within('completion_tokens_details', counts('reasoning_tokens', 'audio_tokens')),
)
const modalities = fc.array(
  fc.record(
    { modality: fc.constantFrom('TEXT', 'AUDIO', 'IMAGE'), tokenCount: odd },
    { requiredKeys: ['modality'] },
  ),
  { maxLength: 3 },
)

interface Dialect {
  readonly provider: string
  readonly wire: string
  readonly model: string
  readonly usage: fc.Arbitrary<Record<string, unknown>>
}

const compatible = (provider: string, model = 'gpt-4o'): Dialect => ({
  provider,
  wire: 'openai',
  model,
  usage: openaiUsage,
})

const dialects: readonly Dialect[] = [
  compatible('openai'),
  compatible('openrouter', 'openai/gpt-4o'),
  compatible('perplexity', 'sonar'),
  compatible('xai', 'grok-4'),
  compatible('deepseek', 'deepseek-chat'),
  {
    provider: 'anthropic',
    wire: 'anthropic',
    model: 'claude-sonnet-4-5',
    usage: merged(
      counts('input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'),
      within('cache_creation', counts('ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens')),
      within('output_tokens_details', counts('thinking_tokens')),
    ),
  },
  {
    provider: 'gemini',
    wire: 'gemini',
    model: 'gemini-2.5-flash',
    usage: merged(
      counts(
        'promptTokenCount',
        'toolUsePromptTokenCount',
        'thoughtsTokenCount',
        'candidatesTokenCount',
        'cachedContentTokenCount',
        'totalTokenCount',
      ),
      within('promptTokensDetails', modalities),
      within('cacheTokensDetails', modalities),
      within('candidatesTokensDetails', modalities),
    ),
  },
  {
    provider: 'cohere',
    wire: 'cohere',
    model: 'command-a-03-2025',
    usage: merged(
      counts('cached_tokens'),
      within('tokens', counts('input_tokens', 'output_tokens')),
      within('billed_units', counts('input_tokens', 'output_tokens', 'search_units')),
    ),
  },
  {
    provider: 'bedrock',
    wire: 'bedrock',
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    usage: merged(
      counts('inputTokens', 'outputTokens', 'totalTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens'),
      within('cacheDetails', fc.array(fc.record({ ttl: fc.constantFrom('1h', '5m'), inputTokens: odd }))),
    ),
  },
]

const figures = [
  '/api/observe/overview',
  '/api/observe/traces',
  '/api/observe/costs',
  '/api/observe/costs/daily',
  '/api/observe/timeseries',
  '/api/observe/timeseries?period=1h',
]

/** Reads everything there is of figures, as the user and as the admin, against the schemas of their routes. */
async function checkFigures(): Promise<void> {
  for (const at of figures) {
    const { returns } = gateway.kernel.registry.generation.routes.find(
      ({ method, path }) => method === 'get' && path === at.split('?')[0],
    )!
    for (const reader of [user.key, gateway.adminKey]) {
      const { status, body } = await gateway.api('GET', at, undefined, reader)
      expect(status, `${at} ${JSON.stringify(body)}`).toBe(200)
      if (typeof returns === 'object' && 'parse' in returns) expect(returns.parse(body)).toEqual(body)
      expect(body).not.toHaveProperty('unreadable')
    }
  }
}

async function ask({ provider, wire, model }: Dialect, stream: boolean, script: Script) {
  const upstream = upstreams.get(wire)!
  upstream.reset()
  upstream.reply(script)
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: `${provider}/${model}`,
      stream,
      messages: [{ role: 'user', content: 'Hi' }],
      ...(stream && { stream_options: { include_usage: true } }),
    }),
  })
  made += 1
  await answer.text()
  expect(answer.status).toBe(200)
}

/** Waits until every call that was made is traced; estimates take a moment. */
async function settled(): Promise<void> {
  const traced = async () =>
    (await gateway.api('GET', '/api/observe/traces?source=proxy&limit=1')).body.total as number
  await expect.poll(traced, { timeout: 10_000 }).toBe(made)
}

test.each(dialects)('$provider may report anything, and every figure stays readable', async (dialect) => {
  await fc.assert(
    fc.asyncProperty(fc.oneof({ weight: 9, arbitrary: dialect.usage }, odd), fc.boolean(), (usage, stream) =>
      ask(dialect, stream, { content: 'Hello there', usage: usage as Record<string, unknown> }),
    ),
    { numRuns: 20 },
  )
  await settled()
  await checkFigures()
})

test('traces that users tell of may hold anything, and every figure stays readable', async () => {
  const told = fc.record(
    {
      model: fc.constantFrom('gpt-4o', 'm'.repeat(256)),
      provider: fc.constantFrom('openai', 'elsewhere'),
      usage: counts('input', 'output', 'cached_read', 'reasoning', 'audio_in'),
      response: fc.oneof(fc.constant({}), within('usage', openaiUsage)),
      cost_usd: odd,
      latency_ms: odd,
      ttft_ms: odd,
      status_code: odd,
      finish_reason: odd,
      timestamp: fc.oneof(
        odd,
        fc.date().map(String),
        fc.constantFrom('9999-12-31T23:59:59Z', '2000-01-01T00:00:00Z'),
      ),
    },
    { requiredKeys: ['model', 'response'] },
  )
  await fc.assert(
    fc.asyncProperty(told, async (trace) => {
      const { status } = await gateway.api('POST', '/api/observe/traces', trace, user.key)
      expect([201, 400]).toContain(status)
    }),
    { numRuns: 200 },
  )
  await checkFigures()
})

test('the largest numbers that are taken, told again and again, end where a number ends', async () => {
  const most = { model: 'gpt-4o', usage: { input: 1e8, output: 1e8 }, cost_usd: 100_000 }
  for (let n = 0; n < 100; n++) {
    expect((await gateway.api('POST', '/api/observe/traces', most, user.key)).status).toBe(201)
  }
  await checkFigures()
  const { body } = await gateway.api('GET', '/api/observe/costs', undefined, user.key)
  expect(body.total_usd).toBe(Number.MAX_SAFE_INTEGER / 1e9)
})

test('an end that is no word is none', async () => {
  for (const finish of [7, {}, 'x'.repeat(100_000), ''])
    await ask(compatible('openai'), false, { finishReason: finish as string })
  await settled()
  await checkFigures()
})

test('all of it can be read after a restart', async () => {
  await gateway.close()
  gateway = await startGateway(options)
  await checkFigures()
})

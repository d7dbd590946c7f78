import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let ada: OpenAI
let bob: OpenAI
let adaId: string
let count = 0

const model = 'text-embedding-3-small'
const config = {
  prices: { [`openai/${model}`]: { input_usd_per_m: 1, output_usd_per_m: 0 } },
  modules: { embedcache: { enabled: true } },
}

const clientOf = (key: string, { url }: TestGateway): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config })
  const { key, userId } = await gateway.signUp('ada')
  adaId = userId
  ada = clientOf(key, gateway)
  bob = clientOf((await gateway.signUp('bob')).key, gateway)
})

beforeEach(() => {
  upstream.reset()
  count += 1
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

/** Texts of this test. */
const texts = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) => `text ${count}.${from + n}`)

type Body = Partial<OpenAI.EmbeddingCreateParams>

async function embed(
  input: OpenAI.EmbeddingCreateParams['input'],
  body: Body = {},
  client = ada,
  headers: Record<string, string> = {},
) {
  const asked = { model, input, encoding_format: 'float', dimensions: 4, ...body } as const
  const { data, response } = await client.embeddings.create(asked, { headers }).withResponse()
  return { data, cache: response.headers.get('x-cache'), trace: response.headers.get('x-trace-id') }
}

const sent = () => upstream.requests.map(({ body }) => (body as { input: unknown }).input)

const traceOf = (id: string | null) =>
  vi.waitFor(async () => {
    const { status, body } = await gateway.api('GET', `/api/observe/traces/${id}`)
    expect(status).toBe(200)
    return body
  }, 20_000)

test('of a batch of 100 with 99 known the provider gets one, and the client gets all in order', async () => {
  const all = texts(0, 100)
  const known = [...all.slice(0, 40), ...all.slice(41)]
  await embed(known.toReversed())
  const { data, cache, trace } = await embed(all)
  expect([sent()[1], cache]).toEqual([[all[40]], 'partial'])
  const direct = await embed(all, {}, ada, { 'cache-control': 'no-store' })
  expect(data.data).toEqual(direct.data.data)
  expect(data.usage.prompt_tokens).toBeLessThan(direct.data.usage.prompt_tokens / 50)
  expect(await traceOf(trace)).toMatchObject({
    cached: false,
    cost_usd: data.usage.prompt_tokens / 1e6,
    usage: { input: data.usage.prompt_tokens },
  })
})

test('a batch that is known costs nothing', async () => {
  await embed(texts(0, 3))
  const { data, cache, trace } = await embed(texts(1, 3))
  expect([data.data.length, data.usage.prompt_tokens, cache]).toEqual([2, 0, 'hit'])
  expect(await traceOf(trace)).toMatchObject({ status: 'cache_hit', cost_usd: 0, attempts: [] })
  expect(upstream.requests).toHaveLength(1)
})

test('an input that a batch names twice is sent once', async () => {
  const [one, other] = texts(0, 2) as [string, string]
  const { data } = await embed([one, other, one])
  expect(sent()).toEqual([[one, other]])
  expect(data.data.map(({ index }) => index)).toEqual([0, 1, 2])
  expect(data.data[2]!.embedding).toEqual(data.data[0]!.embedding)
  expect(data.data[1]!.embedding).not.toEqual(data.data[0]!.embedding)
})

test('a text alone and in a batch is the same input, and its tokens are another', async () => {
  const [one] = texts(0, 1) as [string]
  const alone = await embed(one)
  expect((await embed([one])).data.data).toEqual(alone.data.data)
  await embed([count, 2, 3])
  await embed([[count, 2, 3]])
  expect(sent()).toEqual([one, [count, 2, 3]])
})

test.each<[string, Body]>([
  ['dimensions', { dimensions: 8 }],
  ['encodings', { encoding_format: 'base64' }],
  ['models', { model: 'text-embedding-3-large' }],
])('other %s are other embeddings', async (_, body) => {
  const plain = await embed(texts(0, 2))
  const other = await embed(texts(0, 2), body)
  expect(upstream.requests).toHaveLength(2)
  const again = [await embed(texts(0, 2)), await embed(texts(0, 2), body)]
  expect(again.map(({ data }) => data.data)).toEqual([plain.data.data, other.data.data])
  expect(upstream.requests).toHaveLength(2)
})

test('users share embeddings only where that is wanted', async () => {
  await embed(texts(0, 2))
  await embed(texts(0, 2), {}, bob)
  expect(upstream.requests).toHaveLength(2)
  await gateway.module('embedcache', { config: { share: 'everyone' } })
  count += 1000
  await embed(texts(0, 2))
  await embed(texts(0, 2), {}, bob)
  expect(upstream.requests).toHaveLength(3)
  await gateway.module('embedcache', { config: { share: null } })
})

test('Cache-Control decides for one call', async () => {
  for (const control of ['no-cache', 'no-store', 'max-age=0'])
    await embed(texts(0, 1), {}, ada, { 'cache-control': control })
  await embed(texts(0, 1), {}, ada, { 'cache-control': 'max-age=60' })
  expect(upstream.requests).toHaveLength(3)
})

test('an answer that says twice which input it is for is never kept, nor put together with others', async () => {
  const [one, ...others] = texts(0, 3) as [string, string, string]
  await embed(one)
  const first = { object: 'embedding', index: 0, embedding: [1] }
  const confused = { body: { object: 'list', model, data: [first, first] } }
  upstream.reply(confused)
  expect((await embed(others)).data.data).toHaveLength(2)
  upstream.reply(confused)
  await expect(embed([one, ...others])).rejects.toMatchObject({ status: 502 })
  expect((await embed([one, ...others])).cache).toBe('partial')
})

test('it is part of the caches, with what it saved, and goes with its user', async () => {
  const of = async () => {
    const { body } = await gateway.api('GET', '/api/cache/stats')
    return body.caches.find(({ name }: { name: string }) => name === 'embedcache')
  }
  const before = await of()
  await embed(texts(0, 2))
  await embed(texts(0, 3))
  const after = await of()
  expect([after.hits - before.hits, after.misses - before.misses]).toEqual([2, 3])
  expect(after.saved_usd - before.saved_usd).toBeCloseTo((after.saved_tokens - before.saved_tokens) / 1e6, 12)
  expect(after.saved_tokens).toBeGreaterThan(before.saved_tokens)
  await gateway.api('DELETE', `/api/cache?user_id=${adaId}`)
  expect((await embed(texts(0, 1))).cache).toBe('miss')
})

test('embeddings survive a restart', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-test-'))
  const asked = async (): Promise<string | null> => {
    const running = await startGateway({ upstream, dataDir, config })
    try {
      return (await embed(texts(0, 1), {}, clientOf(running.adminKey, running))).cache
    } finally {
      await running.close()
    }
  }
  expect([await asked(), await asked()]).toEqual(['miss', 'hit'])
  await rm(dataDir, { recursive: true, force: true })
})

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { traceOf } from '../../test/trace.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const always = Number.POSITIVE_INFINITY
const name = 'semanticcache'
const embedding_model = 'text-embedding-3-small'

let upstream: Upstream
let gateway: TestGateway
let ada: { userId: string; key: string }
let bob: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  ada = await gateway.signUp('ada')
  bob = await gateway.signUp('bob')
})

beforeEach(async () => {
  await configure()
  await gateway.api('DELETE', '/api/cache')
  upstream.reset()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function configure(config: object = {}): Promise<void> {
  await gateway.module(name, { enabled: true, config: null })
  await gateway.module(name, { config: { verify_pct: 0, ...config } })
}

interface Asked {
  readonly key?: string
  readonly before?: readonly object[]
  readonly headers?: Record<string, string>
  readonly body?: object
}

function ask(
  content: unknown,
  { key = ada.key, before = [], headers = {}, body }: Asked = {},
): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [...before, { role: 'user', content }], ...body }),
  })
}

/** The text of an answer and whether it came from the cache. */
async function said(content: unknown, asked?: Asked): Promise<[string, boolean]> {
  const response = await ask(content, asked)
  const { choices } = JSON.parse(await response.text())
  return [choices[0].message.content, response.headers.get('x-cache') === 'hit']
}

const statistics = async () => {
  const { body } = await gateway.api('GET', '/api/cache/stats')
  return body.caches.find((cache: { name: string }) => cache.name === name)
}

/** The provider's embeddings of the next two questions that are compared. */
const embeddings = (a: readonly number[], b: readonly number[]) =>
  upstream.reply(
    { path: '/embeddings' },
    {
      body: {
        object: 'list',
        model: embedding_model,
        data: [a, b].map((embedding, index) => ({ object: 'embedding', index, embedding })),
        usage: { prompt_tokens: 9, total_tokens: 9 },
      },
    },
  )

test('a near duplicate gets the answer of the first question, and other numbers do not', async () => {
  upstream.reply({ content: 'Two cost 1 USD.' })
  upstream.reply({ content: 'Three cost 2 USD.' })
  await said('How much are 2 apples?')
  expect(await said('Please, how much are 2 apples')).toEqual(['Two cost 1 USD.', true])
  expect(await said('How much are 3 apples?')).toEqual(['Three cost 2 USD.', false])
  expect(upstream.requests).toHaveLength(2)
})

test('a stream gets what a plain call left, and the other way round', async () => {
  upstream.reply({ content: 'Paris.', times: always })
  await (await ask('Name the capital of France', { body: { stream: true } })).text()
  expect(await said('name the capital of france!')).toEqual(['Paris.', true])
  const streamed = await ask('NAME THE CAPITAL OF FRANCE', { body: { stream: true } })
  expect(streamed.headers.get('x-cache')).toBe('hit')
  const text = await streamed.text()
  expect(text).toContain('Paris')
  expect(text).not.toContain('switchyard_question')
  expect(upstream.requests).toHaveLength(1)
})

test.each<[string, Asked]>([
  ['earlier messages', { before: [{ role: 'system', content: 'Be brief' }] }],
  ['parameters', { body: { temperature: 0.2 } }],
  ['models', { body: { model: 'gpt-4o' } }],
])('questions after other %s are other questions', async (_, asked) => {
  await said('Hello there, who are you?')
  expect((await said('hello there, who are you', asked))[1]).toBe(false)
})

test('users share no answers unless that is wanted', async () => {
  await said('Who are you?')
  expect((await said('who are you', { key: bob.key }))[1]).toBe(false)
  await configure({ share: 'everyone' })
  await said('What are you?')
  expect((await said('what are you', { key: bob.key }))[1]).toBe(true)
})

test('texts in parts are compared, and images are left alone', async () => {
  await said([{ type: 'text', text: 'What is this?' }])
  expect((await said('what is this'))[1]).toBe(true)
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  const response = await ask([{ type: 'text', text: 'What is this?' }, image])
  expect(response.headers.get('x-cache')).toBeNull()
})

test('Cache-Control decides for one call, and refusals and tool calls are not kept', async () => {
  await said('Who is there?')
  expect((await said('who is there', { headers: { 'cache-control': 'no-cache' } }))[1]).toBe(false)
  expect(
    (await ask('who is there', { headers: { 'cache-control': 'no-store' } })).headers.get('x-cache'),
  ).toBeNull()
  upstream.reply({ refusal: 'no' })
  upstream.reply({ toolCalls: [{ name: 'f', arguments: {} }] })
  await ask('May I?')
  await ask('may I')
  expect((await said('may i?'))[1]).toBe(false)
})

test('without a model it says that it finds near duplicates only', async () => {
  const first = await ask('Who are they?')
  const second = await ask('who are they')
  expect(await statistics()).toMatchObject({ kind: 'near_duplicates' })
  expect(second.headers.get('x-cache')).toBe('hit')
  const trace = await traceOf(gateway, second)
  expect(trace).toMatchObject({ status: 'cache_hit', cost_usd: 0, cache: { kind: 'semantic' } })
  expect(trace.cache.similarity ?? null).toBeNull()
  expect((await traceOf(gateway, first)).cached).toBe(false)
})

test('with a model, questions of one content are compared by their embeddings', async () => {
  await configure({ embedding_model })
  expect(await statistics()).toMatchObject({ kind: 'semantic' })
  await said('How do I reset my password?')
  embeddings([1, 0], [0.96, 0.28])
  const near = await ask('How can I reset my password?')
  expect(near.headers.get('x-cache')).toBe('hit')
  expect((await traceOf(gateway, near)).cache).toMatchObject({ kind: 'semantic', similarity: 0.96 })
  embeddings([1, 0], [0.8, 0.6])
  expect((await said('How could I reset my password?'))[1]).toBe(false)
})

test('a model is asked only about questions of one content, and never about near duplicates', async () => {
  await configure({ embedding_model })
  await said('How do I feed 2 penguins?')
  await said('How do I feed 3 penguins?')
  expect((await said('how do i feed 3 penguins, please'))[1]).toBe(true)
  expect(upstream.requests.map(({ path }) => path)).not.toContain('/v1/embeddings')
})

test('without its model it asks the provider', async () => {
  await configure({ embedding_model })
  await said('How do I peel an egg?')
  upstream.reply({ path: '/embeddings' }, { status: 500, times: always })
  const response = await ask('How can I peel an egg?')
  expect([response.status, response.headers.get('x-cache')]).toEqual([200, 'miss'])
})

test('the precision that it reports is that of the answers', async () => {
  await configure({ verify_pct: 100 })
  /** Whether the provider still answers the same. */
  const labelled = [true, true, false, true, true, false, true, true, true, false]
  const before = await statistics()
  for (const [n, isSame] of labelled.entries()) {
    upstream.reply({ content: `Shelf ${n} has 3 free places on the left.` })
    upstream.reply({ content: `Shelf ${n} has ${isSame ? 3 : 4} free places on the left.` })
    await said(`How many places has shelf ${n}?`)
    const [text, isHit] = await said(`how many places has shelf ${n}, please`)
    expect([text.includes(isSame ? '3 free' : '4 free'), isHit]).toEqual([true, false])
  }
  const after = await statistics()
  expect(after.verified - before.verified).toBe(labelled.length)
  expect(after.precision).toBeCloseTo(labelled.filter(Boolean).length / labelled.length, 9)
})

test('it is listed, cleared and erased with the other caches', async () => {
  await said('Which is mine?')
  const list = async (key?: string) =>
    (await gateway.api('GET', `/api/cache?cache=${name}`, undefined, key)).body
  const { entries } = await list(ada.key)
  expect(entries).toMatchObject([{ cache: name, user_id: ada.userId }])
  expect(JSON.stringify(entries)).not.toContain('mine')
  expect((await list(bob.key)).total).toBe(0)
  await gateway.api('DELETE', `/api/cache/${entries[0].id}`, undefined, ada.key)
  expect((await said('which is mine'))[1]).toBe(false)
  await gateway.api('DELETE', `/api/auth/users/${ada.userId}/data`)
  expect((await list()).total).toBe(0)
})

test('the exact cache keeps no answer that this one has given', async () => {
  await gateway.module('cachelayer', { enabled: true })
  await said('Who keeps it?')
  expect((await said('who keeps it'))[1]).toBe(true)
  const { body } = await gateway.api('GET', '/api/cache?cache=cachelayer')
  expect(body.total).toBe(1)
  await gateway.module('cachelayer', { enabled: false })
})

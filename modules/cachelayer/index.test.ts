import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let ada: OpenAI
let bob: OpenAI
let count = 0

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  const clientOf = async (name: string): Promise<OpenAI> =>
    new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: (await gateway.signUp(name)).key, maxRetries: 0 })
  ada = await clientOf('ada')
  bob = await clientOf('bob')
  await gateway.kernel.registry.change('cachelayer', { enabled: true, config: { ttl_s: 600 } })
})

beforeEach(() => {
  upstream.reset()
  count += 1
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const model = 'gpt-4o-mini'
const question = () => [{ role: 'user' as const, content: `question ${count}` }]

async function plain(
  client: OpenAI,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<string> {
  const answer = await client.chat.completions.create({ model, messages: question(), ...body }, { headers })
  return (answer as OpenAI.ChatCompletion).choices[0]!.message.content!
}

async function streamed(client: OpenAI): Promise<string> {
  let text = ''
  for await (const chunk of await client.chat.completions.create({
    model,
    messages: question(),
    stream: true,
  })) {
    text += chunk.choices[0]?.delta.content ?? ''
  }
  return text
}

test('a stream hits what a plain call stored, and the other way round', async () => {
  const first = await plain(ada)
  expect(await streamed(ada)).toBe(first)
  expect(upstream.requests).toHaveLength(1)

  count += 1000
  const other = await streamed(ada)
  expect(await plain(ada)).toBe(other)
  expect(upstream.requests).toHaveLength(2)
})

test.each([
  ['leakguard', {}],
  ['codefence', { action: 'block' }],
  ['hallucicheck', {}],
  ['evalgate', { must_match: ['.'] }],
])(
  'an answer that %s has not seen is not given once it is on, nor one that it saw otherwise',
  async (module, config) => {
    const messages = [{ role: 'system', content: 'You are Tilly.' }, ...question()]
    await plain(ada, { messages })
    await gateway.module(module, { enabled: true, config })
    await plain(ada, { messages })
    await plain(ada, { messages })
    expect(upstream.requests).toHaveLength(2)
    await gateway.module(module, { enabled: false, config: null })
    await plain(ada, { messages })
    expect(upstream.requests).toHaveLength(2)
  },
)

test('users do not share answers unless that is wanted', async () => {
  await plain(ada)
  await plain(bob)
  expect(upstream.requests).toHaveLength(2)
})

test('an admin key shares no answers with another', async () => {
  const another = (await gateway.api('POST', '/api/auth/admin/keys', {})).body.api_key as string
  const [one, two] = [gateway.adminKey, another].map(
    (apiKey) => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 }),
  )
  await plain(one!)
  await plain(two!)
  expect(upstream.requests).toHaveLength(2)
  await plain(one!)
  expect(upstream.requests).toHaveLength(2)
})

test('a project that shares answers shares them among its users, and with no other project', async () => {
  await gateway.module('cachelayer', { config: { share: 'project' } })
  const docs = { 'x-project': 'docs' }
  await plain(ada, {}, docs)
  await plain(bob, {}, docs)
  expect(upstream.requests).toHaveLength(1)
  await plain(ada, {}, { 'x-project': 'web' })
  await plain(ada)
  expect(upstream.requests).toHaveLength(3)
  await gateway.module('cachelayer', { config: { share: null } })
})

test.each([
  ['parameters', { temperature: 0.9 }],
  ['tools', { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }] }],
  ['the model', { model: 'gpt-4o' }],
])('other %s are another question', async (_, body) => {
  await plain(ada)
  await plain(ada, body)
  expect(upstream.requests).toHaveLength(2)
})

test('failures, refusals and tool calls are not stored', async () => {
  upstream.reply({ status: 400 })
  await expect(plain(ada)).rejects.toThrow()
  upstream.reply({ refusal: 'no' })
  await plain(ada)
  upstream.reply({ toolCalls: [{ name: 'f', arguments: {} }] })
  await plain(ada, { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }] })
  const before = upstream.requests.length
  await plain(ada)
  expect(upstream.requests).toHaveLength(before + 1)
})

test('a stream that its client left is not stored', async () => {
  upstream.reply({ content: Array.from({ length: 50 }, (_, n) => `w${n} `), gapMs: 10 })
  for await (const _ of await ada.chat.completions.create({ model, messages: question(), stream: true }))
    break
  await upstream.last().closed
  expect(await streamed(ada)).not.toContain('w1 ')
  expect(upstream.requests).toHaveLength(2)
})

test('abilities that a header switches on are another question', async () => {
  await plain(ada)
  await plain(ada, {}, { 'anthropic-beta': 'context-1m-2025-08-07' })
  await plain(ada, {}, { 'anthropic-beta': 'context-1m-2025-08-07' })
  expect(upstream.requests).toHaveLength(2)
})

test('calls that ask another translation do not share an answer', async () => {
  await plain(ada)
  await gateway.module('anthrofit', { enabled: true, config: { thinking: 'hide' } })
  await plain(ada)
  await plain(ada)
  await gateway.module('anthrofit', { config: { thinking: null } })
  await plain(ada)
  expect(upstream.requests).toHaveLength(2)
})

test('another schema for the answer is another question, and so is the same name for another one', async () => {
  const asked = async (schema: string): Promise<string> => {
    upstream.reply({ content: '{"age":36,"name":"Ada"}' })
    return plain(ada, {}, { 'x-schema': schema })
  }
  await asked('{"type":"object","required":["age"]}')
  await asked('{"type":"object","required":["name"]}')
  await asked('{"type":"object","required":["name"]}')
  expect(upstream.requests).toHaveLength(2)
  for (const required of ['age', 'name']) {
    const schemas = { person: { required: [required] } }
    await gateway.module('structuredshield', { config: { schemas } })
    await asked('person')
    await asked('person')
  }
  await gateway.module('structuredshield', { config: { schemas: null } })
  expect(upstream.requests).toHaveLength(4)
})

test('Cache-Control decides for one call', async () => {
  await plain(ada)
  await plain(ada, {}, { 'cache-control': 'no-cache' })
  await plain(ada, {}, { 'cache-control': 'no-store' })
  await plain(ada, {}, { 'cache-control': 'max-age=0' })
  await plain(ada, {}, { 'cache-control': 'max-age=60' })
  expect(upstream.requests.length).toBeGreaterThanOrEqual(3)
  expect(upstream.requests.length).toBeLessThanOrEqual(4)
})

test('a hit costs nothing and is traced as one', async () => {
  await plain(ada)
  const answer = await ada.chat.completions.create({ model, messages: question() }).asResponse()
  expect(answer.headers.get('x-cache')).toBe('hit')
  await answer.text()
  const { body } = await gateway.api('GET', `/api/observe/traces/${answer.headers.get('x-trace-id')}`)
  expect(body).toMatchObject({ status: 'cache_hit', cached: true, cost_usd: 0 })
  expect(body.cost.saved_usd).toBeGreaterThan(0)
  expect(body.usage.output).toBeGreaterThan(0)
})

test('answers survive a reconfigure, and expire', async () => {
  await plain(ada)
  await gateway.kernel.registry.change('cachelayer', { config: { ttl_s: 1 } })
  await plain(ada)
  expect(upstream.requests).toHaveLength(1)
  count += 1000
  await plain(ada)
  await new Promise((resolve) => setTimeout(resolve, 1100))
  await plain(ada)
  expect(upstream.requests).toHaveLength(3)
  await gateway.kernel.registry.change('cachelayer', { config: { ttl_s: 600 } })
})

test('answers survive a restart', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-test-'))
  const asked = async (): Promise<string | undefined> => {
    const running = await startGateway({ upstream, dataDir: folder })
    try {
      await running.module('cachelayer', { enabled: true, config: { share: 'everyone' } })
      const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: running.adminKey, maxRetries: 0 })
      const answer = await client.chat.completions.create({ model, messages: question() }).asResponse()
      await answer.text()
      return answer.headers.get('x-cache') ?? undefined
    } finally {
      await running.close()
    }
  }
  expect(await asked()).toBe('miss')
  expect(await asked()).toBe('hit')
  await rm(folder, { recursive: true, force: true })
})

test('embeddings are stored too', async () => {
  const embed = () => ada.embeddings.create({ model: 'text-embedding-3-small', input: `text ${count}` })
  expect((await embed()).data).toEqual((await embed()).data)
  expect(upstream.requests).toHaveLength(1)
})

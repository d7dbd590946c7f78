import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startGateway()
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: (await gateway.signUp()).key, maxRetries: 0 })
})

afterAll(() => gateway.close())

const ask = (content: string) => ({ model: 'mock/any', messages: [{ role: 'user' as const, content }] })

const configure = (config: Record<string, unknown>) =>
  gateway.kernel.registry.change('mockllm', {
    enabled: true,
    config: { otherwise: null, models: null, fixtures: null, ...config },
  })

test('a fresh installation without any key answers the official client, plain and streamed', async () => {
  await configure({})
  const plain = await client.chat.completions.create(ask('hello'))
  expect(plain.choices[0]!.message.content).toBe('You said: hello')
  expect(plain.usage!.total_tokens).toBe(plain.usage!.prompt_tokens + plain.usage!.completion_tokens)
  const final = await client.chat.completions.stream(ask('hello')).finalChatCompletion()
  expect(final.choices[0]!.message.content).toBe('You said: hello')
  const legacy = await client.completions.create({ model: 'mock/any', prompt: 'once' })
  expect(legacy.choices[0]!.text).toBe('You said: once')
})

test('the first matching fixture answers; without one the provider is asked when told so', async () => {
  await configure({
    fixtures: [
      { match: '^ping$', answer: 'pong' },
      { match: 'ping', answer: 'late {{{text}}} & <b>' },
    ],
    otherwise: 'provider',
  })
  const say = async (text: string) =>
    (await client.chat.completions.create(ask(text))).choices[0]!.message.content
  expect(await say('ping')).toBe('pong')
  expect(await say('a ping')).toBe('late a ping & <b>')
  expect(await say('other')).toBe('Mock answer to: other')
})

test('a stream takes its time, and ends when the client leaves', async () => {
  await configure({ fixtures: [{ answer: 'x'.repeat(400), chunk_delay_ms: 30 }] })
  const began = performance.now()
  for await (const _ of await client.chat.completions.create({ ...ask('slow'), stream: true })) {
    // Only the time counts here.
  }
  expect(performance.now() - began).toBeGreaterThan(100)

  await configure({ fixtures: [{ answer: 'never', delay_ms: 60_000 }] })
  const abort = new AbortController()
  const hanging = client.chat.completions
    .create(ask('hang'), { signal: abort.signal })
    .catch((error: unknown) => error)
  await expect.poll(() => gateway.kernel.registry.generation.leases).toBeGreaterThan(1)
  abort.abort()
  await hanging
  await expect.poll(() => gateway.kernel.registry.generation.leases).toBe(1)
})

test('failures are those of a provider, as the client knows them', async () => {
  await gateway.kernel.registry.change('retrypilot', { enabled: false }).catch(() => {})
  await configure({
    fixtures: [{ match: 'limit', error: { status: 429 } }, { error: { status: 503, message: 'tired' } }],
  })
  await expect(client.chat.completions.create(ask('limit'))).rejects.toThrow(OpenAI.RateLimitError)
  await expect(client.chat.completions.create(ask('x'))).rejects.toMatchObject({
    status: 502,
    code: 'provider_error',
  })
})

test('a wrong expression is refused with its place', async () => {
  const { status, body } = await gateway.api('PUT', '/api/proxy/modules/mockllm', {
    config: { fixtures: [{ match: '(' }] },
  })
  expect(status).toBe(400)
  expect(body.error.param).toBe('config.fixtures.0.match')
})

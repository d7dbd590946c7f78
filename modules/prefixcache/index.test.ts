import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type Answer, ask } from '../../test/ask.ts'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { anthropic } from '../../test/upstream/anthropic/index.ts'
import { gemini, startUpstream, type Upstream } from '../../test/upstream/index.ts'

let openai: Upstream
let claude: Upstream
let google: Upstream
let other: Upstream
let gateway: TestGateway
let count = 0

beforeAll(async () => {
  openai = await startUpstream()
  other = await startUpstream()
  claude = await startUpstream({ wires: [anthropic] })
  google = await startUpstream({ wires: [gemini] })
  const like = { type: 'openai', api_key: 'sk-test', models: ['other-*'] }
  const providers = {
    openai: { base_url: openai.baseUrl(), api_key: 'sk-test' },
    anthropic: { base_url: claude.baseUrl(), api_key: 'sk-test' },
    gemini: { base_url: google.baseUrl(), api_key: 'sk-test' },
    compatible: { ...like, base_url: other.baseUrl() },
  }
  gateway = await startGateway({ config: { providers } })
  await bareChain(gateway)
})

beforeEach(async () => {
  for (const upstream of [openai, other, claude, google]) upstream.reset()
  count += 1
  await gateway.module('prefixcache', { enabled: true, config: null })
})

afterAll(async () => {
  await gateway.close()
  for (const upstream of [openai, other, claude, google]) await upstream.close()
})

const rules = () => `The rules of test ${count}.`
const weather = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })

interface Asked {
  readonly model?: string
  readonly system?: readonly string[]
  readonly said?: readonly object[]
  readonly body?: object
}

const call = ({ model = 'claude-sonnet-4-5', system = [rules()], said = [], body }: Asked): Promise<Answer> =>
  ask(gateway, {
    body: {
      model,
      messages: [
        ...system.map((content) => ({ role: 'system', content })),
        { role: 'user', content: 'Hello' },
        ...said,
      ],
      ...body,
    },
  })

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
const sentTo = (upstream: Upstream): any => upstream.last().body
const mark = { type: 'ephemeral' }

const traceOf = ({ headers }: Answer) =>
  vi.waitFor(async () => {
    const { status, body } = await gateway.api('GET', `/api/observe/traces/${headers.get('x-trace-id')}`)
    expect(status).toBe(200)
    return body
  }, 20_000)

test('Claude is told where the tools and the instructions end', async () => {
  await call({ body: { tools: [weather('b'), weather('a')] } })
  const { system, tools, messages } = sentTo(claude)
  expect(system).toEqual([{ type: 'text', text: rules(), cache_control: mark }])
  expect(tools.map(({ name, cache_control }: Record<string, unknown>) => [name, cache_control])).toEqual([
    ['a', undefined],
    ['b', mark],
  ])
  expect(JSON.stringify(messages)).not.toContain('cache_control')
})

test('instructions that change go behind the mark', async () => {
  await call({ system: ['It is Monday.', rules()] })
  await call({ system: ['It is Tuesday.', rules()] })
  expect(sentTo(claude).system).toEqual([
    { type: 'text', text: rules(), cache_control: mark },
    { type: 'text', text: 'It is Tuesday.' },
  ])
})

test('a conversation that goes on is marked at its end, for as long as is wanted', async () => {
  await gateway.module('prefixcache', { config: { ttl: '1h' } })
  const said = [
    { role: 'assistant', content: 'Hello.' },
    { role: 'user', content: 'And?' },
  ]
  await call({ said })
  const hour = { ...mark, ttl: '1h' }
  expect(sentTo(claude).system[0].cache_control).toEqual(hour)
  expect(sentTo(claude).messages.at(-1).content).toEqual([
    { type: 'text', text: 'And?', cache_control: hour },
  ])
})

test('a client that marks its prompt itself is left alone', async () => {
  const text = { type: 'text', text: 'Hello', cache_control: mark }
  await ask(gateway, {
    path: '/v1/messages',
    body: {
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      system: rules(),
      messages: [{ role: 'user', content: [text] }],
    },
  })
  expect([sentTo(claude).system, sentTo(claude).messages[0].content]).toEqual([rules(), [text]])
})

test('OpenAI gets one key for calls that begin alike, which tells nothing of them', async () => {
  const keyOf = async (asked: Asked): Promise<string> => {
    await call({ model: 'gpt-4o-mini', ...asked })
    return sentTo(openai).prompt_cache_key
  }
  const key = await keyOf({})
  expect(key).toMatch(/^sy-[0-9a-f]{32}$/)
  expect(await keyOf({ said: [{ role: 'user', content: 'More' }] })).toBe(key)
  expect(await keyOf({ system: [`Others of ${count}.`] })).not.toBe(key)
  expect(await keyOf({ body: { tools: [weather('a')] } })).not.toBe(key)
  expect(await keyOf({ body: { prompt_cache_key: 'mine' } })).toBe('mine')
  expect(await keyOf({ system: [] })).toBeUndefined()
  await gateway.module('prefixcache', { config: { prompt_cache_key: false } })
  expect(await keyOf({})).toBeUndefined()
})

test('providers that are only like OpenAI get no key, and nobody gets marks that are not known there', async () => {
  const answer = await call({ model: 'other-1' })
  expect(sentTo(other).prompt_cache_key).toBeUndefined()
  await call({ model: 'gpt-4o-mini' })
  await call({ model: 'gemini-2.5-flash' })
  for (const upstream of [other, openai, google])
    expect(upstream.last().rawBody).not.toMatch(/cache_control|cachedContent/)
  expect(answer.headers.get('x-params-changed')).toBeNull()
})

test('Gemini gets the name of the content that holds the instructions', async () => {
  const content = { cached_content: 'cachedContents/abc', models: ['gemini-2.5-*'], system: rules() }
  await gateway.module('prefixcache', { config: { gemini: [content] } })
  await call({ model: 'gemini-2.5-flash' })
  expect(sentTo(google)).toMatchObject({ cachedContent: 'cachedContents/abc' })
  expect(sentTo(google).systemInstruction).toBeUndefined()
  for (const other of [
    { system: [`${rules()} And more.`] },
    { body: { tools: [weather('a')] } },
    { model: 'gemini-2.0-flash' },
  ]) {
    await call({ model: 'gemini-2.5-flash', ...other })
    expect(sentTo(google).cachedContent).toBeUndefined()
    expect(sentTo(google).systemInstruction).toBeDefined()
  }
})

test('the trace says what the cache saved, and what writing to it cost', async () => {
  const usage = { input_tokens: 10, output_tokens: 5 }
  claude.reply({ usage: { ...usage, cache_read_input_tokens: 2000, cache_creation_input_tokens: 0 } })
  const read = await traceOf(await call({}))
  expect(read.usage.cached_read).toBe(2000)
  expect(read.facts.prefixcache).toMatchObject({ cached_tokens: 2000, written_tokens: 0 })
  // A token of Sonnet costs 3 USD per million, and a tenth of that from the cache.
  expect(read.facts.prefixcache.saved_usd).toBeCloseTo((2000 * 2.7) / 1e6, 9)

  claude.reply({ usage: { ...usage, cache_read_input_tokens: 0, cache_creation_input_tokens: 2000 } })
  const written = await traceOf(await call({}))
  expect(written.facts.prefixcache.saved_usd).toBeCloseTo((-2000 * 0.75) / 1e6, 9)

  expect((await traceOf(await call({}))).facts.prefixcache).toBeUndefined()
})

test('settings that make no sense are refused with their name', async () => {
  const { status, body } = await gateway.api('PUT', '/api/proxy/modules/prefixcache', {
    config: { gemini: [{ cached_content: '../x', models: ['*'], system: 'a' }] },
  })
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('cached_content')])
})

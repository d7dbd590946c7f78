import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

const window = 60

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    config: {
      models: {
        'openai/gpt-4o-mini': { context_window: window },
        'openai/gpt-4o': { context_window: 200 },
        'openai/gpt-4.1': { context_window: 5000 },
        'wide/shared-mini': { context_window: 5000 },
        'narrow/shared-mini': { context_window: window },
      },
      providers: Object.fromEntries(
        ['narrow', 'wide'].map((name) => [
          name,
          { type: 'openai', base_url: upstream.baseUrl(), api_key: 'sk-test', models: ['shared-mini'] },
        ]),
      ),
      modules: { modelalias: { config: { aliases: { fast: 'gpt-4o-mini', '*-tiny': 'gpt-4o-mini' } } } },
    },
  })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(async () => {
  upstream.reset()
  await use({})
})

const use = (fallbacks: object) => gateway.module('contextwindow', { config: { fallbacks } })
const words = (n: number) => Array.from({ length: n }, () => 'word').join(' ')
const said = (n: number) => [{ role: 'user' as const, content: words(n) }]
const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
const say = (n: number, more: object = {}, headers: Record<string, string> = {}) =>
  ask(gateway, { headers, body: { model: 'gpt-4o-mini', messages: said(n), ...more } })
const sentModel = () => (upstream.last().body as { model: string }).model

test('a prompt fits up to the last token of the window, and is refused with one more', async () => {
  let most = 0
  for (let n = window - 15; ; n += 1) {
    const { status, headers, body } = await say(n)
    if (status === 400) {
      expect(body.error).toMatchObject({
        code: 'bad_request',
        type: 'context_length_exceeded',
        module: 'contextwindow',
        param: 'messages',
        details: { counted_tokens: window + 1, allowed_tokens: window, model: 'gpt-4o-mini' },
      })
      break
    }
    most = n
    expect(Number(headers.get('x-context-used')!.split('/')[0])).toBeLessThanOrEqual(window)
  }
  expect(most).toBeGreaterThan(window - 15)
  expect((upstream.last().body as { messages: unknown }).messages).toEqual(said(most))
})

test.each([false, true])(
  'no upstream call is made for a refusal on any wire (stream: %s)',
  async (stream) => {
    const long = words(300)
    const bodies: [string, object][] = [
      ['/v1/chat/completions', { messages: said(300) }],
      ['/v1/messages', { messages: said(300), max_tokens: 10 }],
      ['/v1/responses', { input: long }],
      ['/v1/completions', { prompt: long }],
      [
        `/v1beta/models/gpt-4o-mini:${stream ? 'streamGenerateContent' : 'generateContent'}`,
        { contents: [{ role: 'user', parts: [{ text: long }] }] },
      ],
    ]
    for (const [path, body] of bodies) {
      const answer = await ask(gateway, {
        path,
        body: path.includes('v1beta') ? body : { model: 'gpt-4o-mini', stream, ...body },
      })
      expect([path, answer.status, JSON.stringify(answer.body)]).toEqual([
        path,
        400,
        expect.stringContaining('prompt is too long: '),
      ])
    }
    expect(upstream.requests).toEqual([])
  },
)

test.each([
  ['far from', 'gpt-4.1'],
  ['near', 'gpt-4o'],
])(
  'fields that clients send as null, and tools with free text, are counted %s the window',
  async (_, model) => {
    const custom = { id: 'call_1', type: 'custom', custom: { name: 'shell', input: 'ls' } }
    const messages = [
      { role: 'user', content: words(130) },
      { role: 'assistant', content: 'Yes.', tool_calls: null },
      { role: 'user', content: 'Go on.' },
      { role: 'assistant', content: null, tool_calls: [custom] },
      { role: 'tool', tool_call_id: 'call_1', content: 'a b' },
    ]
    // Not every provider takes them, which is for it to say.
    await ask(gateway, { body: { model, messages, tools: null } })
    expect(upstream.requests).toHaveLength(1)
  },
)

test('official clients get their own error of a bad request', async () => {
  await expect(
    openai().chat.completions.create({ model: 'gpt-4o-mini', messages: said(300), stream: true }),
  ).rejects.toBeInstanceOf(OpenAI.BadRequestError)
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.adminKey, maxRetries: 0 })
  await expect(
    anthropic.messages.create({ model: 'gpt-4o-mini', max_tokens: 10, messages: said(300) }),
  ).rejects.toBeInstanceOf(Anthropic.BadRequestError)
})

test('a prompt goes to the first larger model that it fits, plain and streamed', async () => {
  await use({ 'gpt-4o-mini': ['gpt-4o', 'nowhere-at-all', 'gpt-4.1'] })
  for (const stream of [false, true]) {
    await say(10, { stream })
    expect(sentModel()).toBe('gpt-4o-mini')
    const { headers } = await say(100, { stream })
    expect([sentModel(), headers.get('x-context-used')]).toEqual([
      'gpt-4o',
      expect.stringMatching(/^\d+\/200$/),
    ])
    await say(1000, { stream })
    expect(sentModel()).toBe('gpt-4.1')
    expect((await say(10_000, { stream })).status).toBe(400)
  }
  expect(upstream.requests).toHaveLength(6)
})

test('the trace says why a call was moved, and an explanation what would become of it', async () => {
  await use({ '*': ['gpt-4.1'] })
  const body = { model: 'gpt-4o-mini', messages: said(300) }
  const explained = await gateway.api('POST', '/api/proxy/chain/explain', {
    path: '/v1/chat/completions',
    request: body,
  })
  const { headers } = await ask(gateway, { body })
  const decision = {
    kind: 'context_window',
    chosen: 'gpt-4.1',
    reason: expect.stringMatching(/^the prompt has 30\d tokens, and gpt-4o-mini takes 60$/),
  }
  expect(explained.body).toMatchObject({ model: 'gpt-4.1', decisions: [decision] })
  await expect
    .poll(async () => (await gateway.api('GET', `/api/observe/traces/${headers.get('x-trace-id')}`)).body)
    .toMatchObject({ decisions: [decision] })
})

test('the window is that of the model an alias leads to', async () => {
  expect((await say(300, { model: 'fast' })).status).toBe(400)
  expect((await say(300, { model: 'so-tiny' })).status).toBe(400)
  expect((await say(300, { model: 'gpt-4.1' })).status).toBe(200)
})

test('a window that was met before is not that of another model that the name leads to now', async () => {
  const lead = (model: string) => gateway.module('modelalias', { config: { aliases: { moving: model } } })
  await lead('gpt-4.1')
  for (const n of [1, 100, 1]) expect((await say(n, { model: 'moving' })).status).toBe(200)
  await lead('gpt-4o-mini')
  const { status, headers } = await say(1, { model: 'moving' })
  expect([status, headers.get('x-context-used')]).toEqual([200, expect.stringMatching(/\/60$/)])
  expect((await say(100, { model: 'moving' })).status).toBe(400)
})

test('of several providers of a model one takes a prompt that the first cannot take', async () => {
  await say(10, { model: 'shared-mini' })
  const { headers } = await say(300, { model: 'shared-mini' })
  expect(headers.get('x-context-used')).toMatch(/\/5000$/)
  const pinned = await say(300, { model: 'shared-mini' }, { 'x-provider': 'narrow' })
  expect(pinned.status).toBe(400)
})

test('what tools, images and a long conversation take counts too', async () => {
  const tools = [
    {
      type: 'function',
      function: { name: 'look', description: words(80), parameters: { type: 'object', properties: {} } },
    },
  ]
  expect((await say(1, { tools })).status).toBe(400)
  const url = `data:image/png;base64,${Buffer.alloc(200).toString('base64')}`
  const image = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
  expect((await say(1, { messages: image })).status).toBe(400)
  const turns = Array.from({ length: 30 }, (_, n) => ({ role: n % 2 ? 'assistant' : 'user', content: 'hi' }))
  expect((await say(1, { messages: turns })).status).toBe(400)
  expect(upstream.requests).toEqual([])
})

test('models of which no window is known take what they are sent, and embeddings are left alone', async () => {
  expect((await say(3000, { model: 'openai/unheard-of' })).status).toBe(200)
  const { data } = await openai().embeddings.create({ model: 'text-embedding-3-small', input: words(3000) })
  expect(data).toHaveLength(1)
})

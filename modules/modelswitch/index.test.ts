import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let user: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    config: {
      models: {
        'openai/gpt-4o-mini': { context_window: 4000 },
        'openai/gpt-4.1': { context_window: 20_000 },
      },
      modules: { modelalias: { config: { aliases: { fast: 'gpt-4o-mini' } } } },
    },
  })
  user = await gateway.signUp()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(() => upstream.reset())

type Rule = { name?: string; when?: object; model?: string }

const use = (rules: readonly Rule[], more: object = {}) =>
  gateway.module('modelswitch', {
    enabled: true,
    config: { rules: rules.map((rule, n) => ({ name: `rule-${n}`, model: 'gpt-4.1', ...rule })), ...more },
  })
const says = (content: unknown) => ({ messages: [{ role: 'user', content }] })

interface Asked {
  readonly body?: object
  readonly headers?: Record<string, string>
  readonly path?: string
}

/** The model that the provider was asked for. */
async function askedFor({ body = says('Hello'), headers = {}, path }: Asked): Promise<string> {
  const key = user.key
  const answer = await ask(gateway, {
    ...(path && { path }),
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: { model: 'gpt-4o-mini', ...body },
  })
  expect(answer.status).toBe(200)
  return (upstream.last().body as { model: string }).model
}

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const daysFromToday = (...steps: number[]) => steps.map((step) => days[(new Date().getUTCDay() + step) % 7])
const wholeDays = (...steps: number[]) => [{ days: daysFromToday(...steps), from: '00:00', to: '24:00' }]
const image = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } }]
const tools = [
  { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
]
const german = 'Kannst du mir bitte sagen, wie spät es jetzt gerade in Berlin ist?'

const conditions: [string, () => object, Asked, Asked][] = [
  ['model', () => ({ models: ['gpt-4o*'] }), {}, { body: { ...says('Hello'), model: 'gpt-3.5-turbo' } }],
  [
    'prompt tokens',
    () => ({ prompt_tokens: { min: 30, max: 60 } }),
    { body: says('word '.repeat(40)) },
    { body: says('word '.repeat(70)) },
  ],
  ['images', () => ({ images: true }), { body: says(image) }, {}],
  ['no images', () => ({ images: false }), {}, { body: says(image) }],
  ['tools', () => ({ tools: true }), { body: { ...says('Hello'), tools } }, {}],
  ['no tools', () => ({ tools: false }), {}, { body: { ...says('Hello'), tools } }],
  ['language', () => ({ languages: ['de', 'fr'] }), { body: says(german) }, {}],
  [
    'keyword',
    () => ({ keywords: ['(?i)\\binvoices?\\b', 'refund'] }),
    { body: says('Where are my INVOICES?') },
    { body: says('Where is my invoicing?') },
  ],
  [
    'keyword, in what the user said last',
    () => ({ keywords: ['refund'] }),
    { body: says([{ type: 'text', text: 'a refund' }]) },
    {
      body: {
        messages: [
          { role: 'user', content: 'a refund' },
          { role: 'assistant', content: 'refund' },
          { role: 'user', content: 'thanks' },
        ],
      },
    },
  ],
  [
    'tag',
    () => ({ tags: { team: 'red' } }),
    { headers: { 'x-service-tags': 'team=red,stage=prod' } },
    { headers: { 'x-service-tags': 'team=blue' } },
  ],
  ['project', () => ({ projects: ['docs'] }), { headers: { 'x-project': 'docs' } }, {}],
  [
    'header',
    () => ({ headers: { 'X-Tier': 'gold*' } }),
    { headers: { 'x-tier': 'Golden' } },
    { headers: { 'x-tier': 'silver' } },
  ],
]

test.each(conditions)('a rule holds by its condition: %s', async (_, when, holds, fails) => {
  await use([{ when: when() }])
  for (const stream of [false, true]) {
    const streamed = ({ body = says('Hello'), ...rest }: Asked) => ({ ...rest, body: { ...body, stream } })
    expect(await askedFor(streamed(holds))).toBe('gpt-4.1')
    expect(await askedFor(streamed(fails))).not.toBe('gpt-4.1')
  }
})

test.each<[string, () => object, () => object]>([
  ['plan', () => ({ plans: ['free'] }), () => ({ plans: ['team'] })],
  ['user', () => ({ users: [user.userId] }), () => ({ users: ['usr_other'] })],
  ['time', () => ({ hours: wholeDays(0, 1) }), () => ({ hours: wholeDays(3, 4) })],
])('a rule holds by who asks and when: %s', async (_, holds, fails) => {
  await use([{ when: holds() }])
  expect(await askedFor({})).toBe('gpt-4.1')
  await use([{ when: fails() }])
  expect(await askedFor({})).toBe('gpt-4o-mini')
})

test('all conditions must hold, and the first rule whose conditions do wins', async () => {
  await use([
    { when: { tools: true, keywords: ['urgent'] }, model: 'gpt-4.1' },
    { when: { keywords: ['urgent'] }, model: 'gpt-4o-mini' },
    { when: { languages: ['de'] }, model: 'gpt-4o' },
    { model: 'gpt-4.1-nano' },
  ])
  expect(await askedFor({ body: { ...says('urgent!'), tools } })).toBe('gpt-4.1')
  expect(await askedFor({ body: says('urgent!') })).toBe('gpt-4o-mini')
  expect(await askedFor({ body: says(german) })).toBe('gpt-4o')
  expect(await askedFor({ body: { ...says('Hi'), tools } })).toBe('gpt-4.1-nano')
})

test('rules hold on every wire', async () => {
  await use([{ when: { keywords: ['refund'], models: ['gpt-4o-mini'] } }])
  const text = 'a refund, please'
  const wires: Asked[] = [
    { path: '/v1/messages', body: { ...says(text), max_tokens: 20 } },
    { path: '/v1/responses', body: { input: text } },
    { path: '/v1/completions', body: { prompt: text } },
  ]
  for (const wire of wires) expect(await askedFor(wire)).toBe('gpt-4.1')
})

test('an explanation shows which rule and why, without a word of the prompt, as the trace does', async () => {
  await use([
    { name: 'gold', when: { headers: { 'x-tier': 'gold' } } },
    { name: 'long', when: { tags: { team: 'red' }, keywords: ['ref[u]nd'], prompt_tokens: { min: 5 } } },
  ])
  const headers = { 'x-service-tags': 'team=red' }
  const body = { model: 'gpt-4o-mini', ...says('I want a refund of everything') }
  const explained = await gateway.api('POST', '/api/proxy/chain/explain', {
    path: '/v1/chat/completions',
    request: body,
    headers,
  })
  const decision = {
    kind: 'rule',
    chosen: 'gpt-4.1',
    reason: expect.stringMatching(/^rule long; tags team=red; about \d+ tokens; keyword ref\[u\]nd$/),
  }
  expect(explained.body).toMatchObject({ model: 'gpt-4.1', decisions: [decision] })
  expect(upstream.requests).toEqual([])
  const { headers: seen } = await ask(gateway, { headers, body })
  await expect
    .poll(async () => (await gateway.api('GET', `/api/observe/traces/${seen.get('x-trace-id')}`)).body)
    .toMatchObject({ decisions: [{ ...decision, considered: ['gold', 'long'] }] })
})

test('rules read the model that an alias stands for, and a call that names its provider keeps its model', async () => {
  await use([{ when: { models: ['gpt-4o-mini'] }, model: 'gpt-4.1' }])
  expect(await askedFor({ body: { ...says('Hello'), model: 'fast' } })).toBe('gpt-4.1')
  expect(await askedFor({ headers: { 'x-provider': 'openai' } })).toBe('gpt-4o-mini')
})

test('a prompt that is too long for its model is not refused when a rule moves it', async () => {
  await use([{ when: { prompt_tokens: { min: 50 } }, model: 'gpt-4.1' }])
  expect(await askedFor({ body: says('word '.repeat(5000)) })).toBe('gpt-4.1')
  await use([])
  const { status } = await ask(gateway, { body: { model: 'gpt-4o-mini', ...says('word '.repeat(5000)) } })
  expect(status).toBe(400)
})

test('equal requests that rules send to different models share no cached answer', async () => {
  await gateway.module('cachelayer', { enabled: true, config: { share: 'everyone' } })
  await use([{ when: { headers: { 'x-tier': 'gold' }, keywords: ['twice'] }, model: 'gpt-4.1' }])
  const body = says('said twice')
  const cached = async (headers: Record<string, string>) =>
    (await ask(gateway, { headers, body: { model: 'gpt-4o-mini', ...body } })).headers.get('x-cache')
  expect([await cached({}), await cached({}), await cached({ 'x-tier': 'gold' })]).toEqual([
    'miss',
    'hit',
    'miss',
  ])
  expect(upstream.requests.map((request) => (request.body as { model: string }).model)).toEqual([
    'gpt-4o-mini',
    'gpt-4.1',
  ])
  await gateway.module('cachelayer', { enabled: false })
})

test('a pattern that takes other engines for ever takes linear time', async () => {
  await use([{ when: { keywords: ['(a+)+$', '(a|aa)+b'] }, model: 'gpt-4.1' }])
  const body = { model: 'gpt-4.1-nano', ...says(`${'a'.repeat(20_000)}!`) }
  expect((await ask(gateway, { body })).status).toBe(200)
})

test.each([
  ['a pattern that is none', [{ when: { keywords: ['('] } }]],
  ['a model that is a glob', [{ model: 'gpt-*' }]],
  ['a header with a key', [{ when: { headers: { Authorization: '*' } } }]],
  ['two rules of one name', [{ name: 'a' }, { name: 'a' }]],
  ['a condition that does not exist', [{ when: { mood: 'good' } }]],
  ['a length that ends before it begins', [{ when: { prompt_tokens: { min: 9, max: 3 } } }]],
  ['a language that is no code', [{ when: { languages: ['German'] } }]],
])('%s is refused', async (_, rules) => {
  await expect(use(rules)).rejects.toThrow('config.rules')
})

test('a time zone that does not exist is refused', async () => {
  await expect(use([], { timezone: 'Mars/Olympus' })).rejects.toThrow('config.timezone')
})

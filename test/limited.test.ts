import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from './harness.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

/** What headers say to who is limited, whoever refuses. */

let upstream: Upstream
let gateway: TestGateway
let user: { userId: string; key: string }
let users = 0

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config: { auth: { failed_keys_per_minute: 3 } } })
  await gateway.module('retrypilot', { enabled: false })
})

beforeEach(async () => {
  upstream.reset()
  users += 1
  user = await gateway.signUp(`user${users}`)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const messages = [{ role: 'user', content: 'Hi.' }]
const question = { model: 'gpt-4o-mini', messages }

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { response, text: await response.text() }
}

/** The status of an answer, and what its headers say of limits. */
async function limitsOf(answer: Promise<{ response: Response }>) {
  const { status, headers } = (await answer).response
  const number = (name: string) => {
    const value = headers.get(name)
    return value === null ? null : Number(value)
  }
  const of = (name: string) => number(`x-ratelimit-${name}`)
  return [status, number('retry-after'), of('remaining'), of('reset'), of('limit')]
}

const ask = (more: object = {}, headers?: Record<string, string>) =>
  post('/v1/chat/completions', { ...question, ...more }, headers)

/** Switches a module on for as long as the test runs. */
async function withModule(name: string, config: object, run: () => Promise<void>): Promise<void> {
  await gateway.module(name, { enabled: true, config })
  const reset = Object.fromEntries(Object.keys(config).map((field) => [field, null]))
  await run().finally(() => gateway.module(name, { enabled: name === 'costcap', config: reset }))
}

const wires: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', question],
  ['/v1/chat/completions', { ...question, stream: true }],
  ['/v1/messages', { ...question, max_tokens: 10 }],
  ['/v1/messages', { ...question, max_tokens: 10, stream: true }],
  ['/v1/responses', { model: 'gpt-4o-mini', input: 'Hi.' }],
  ['/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Hi.' }],
  ['/v1beta/models/gpt-4o-mini:generateContent', { contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }] }],
  ['/v1beta/models/gpt-4o-mini:streamGenerateContent?alt=sse', { contents: [{ parts: [{ text: 'Hi.' }] }] }],
]

test.each(wires)('a limit of each call, which no time lifts, says so at %s', (path, body) =>
  withModule('costcap', { max_call_usd: 0.000_000_01 }, async () => {
    expect(await limitsOf(post(path, body))).toEqual([429, 3600, 0, 3600, null])
  }),
)

test('a cap says when it begins anew, also where a rate has room', async () => {
  await gateway.module('rateshield', { config: { rules: [{ per: 'user', rpm: 60 }] } })
  const cap = `/api/users/${user.userId}/spend/cap`
  expect((await gateway.api('PUT', cap, { daily_cap: 0.000_000_1 })).status).toBe(200)
  const [status, after, remaining, reset] = await limitsOf(ask())
  expect([status, remaining, reset]).toEqual([429, 0, after])
  expect(after).toBeGreaterThan(0)
  await gateway.module('rateshield', { config: { rules: [] } })
})

test('a session that is stopped says it, for ever or until it is forgotten', () =>
  withModule('agentguard', { max_calls: 1 }, async () => {
    const session = { 'x-session-id': 'one' }
    expect((await ask({}, session)).response.status).toBe(200)
    const [status, after, remaining, reset, limit] = await limitsOf(ask({}, session))
    expect([status, remaining, reset, limit]).toEqual([429, 0, after, 1])
    expect(after).toBeGreaterThan(60)
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
    const round = [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'none' },
    ]
    const looping = { messages: [...messages, ...Array.from({ length: 9 }, () => round).flat()] }
    expect((await limitsOf(ask(looping, { 'x-session-id': 'two' }))).slice(0, 4)).toEqual([
      429, 3600, 0, 3600,
    ])
  }))

test('a call that finds no slot says it', () =>
  withModule('queuepriority', { concurrency: { openai: 1 }, max_queue: 1, max_wait_ms: 100 }, async () => {
    upstream.reply({ delayMs: 800, times: 3 })
    const answers = await Promise.all([1, 2, 3].map(() => limitsOf(ask())))
    const refused = answers.filter(([status]) => status === 429)
    expect(refused).toHaveLength(2)
    for (const [, after, remaining, reset] of refused) expect([remaining, reset]).toEqual([0, after])
  }))

test('a quota of a tenant says it', () =>
  withModule('tenantwall', {}, async () => {
    const quotas = { requests_per_minute: 1 }
    const tenant = { name: 'A', users: [user.userId], quotas }
    expect((await gateway.api('POST', '/api/modules/tenantwall/tenants', tenant)).status).toBe(201)
    expect((await ask()).response.status).toBe(200)
    const [status, after, remaining, reset, limit] = await limitsOf(ask())
    expect([status, remaining, reset, limit]).toEqual([429, 0, after, 1])
  }))

test('a refusal of the provider says it, with its own time where it names one', async () => {
  upstream.reply({ retryAfter: 7, status: 429 })
  expect(await limitsOf(ask())).toEqual([429, 7, 0, 7, null])
  upstream.reply({ status: 429 })
  expect(await limitsOf(ask())).toEqual([429, 5, 0, 5, null])
})

test('requests whose keys keep failing say it, of both kinds, and others say nothing of limits', async () => {
  const wrong = { authorization: 'Bearer wrong' }
  const me = async (headers: Record<string, string>) => ({
    response: await fetch(`${gateway.url}/api/auth/me`, { headers }),
  })
  expect(await limitsOf(me({}))).toEqual([401, null, null, null, null])
  for (let n = 0; n < 3; n += 1) await me(wrong)
  for (const answer of [me(wrong), ask({}, wrong)]) {
    const [status, after, remaining, reset] = await limitsOf(answer)
    expect([status, remaining, reset]).toEqual([429, 0, after])
    expect(after).toBeGreaterThan(0)
  }
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const limit = 5
const config = { plans: { enforce: true } }

let upstream: Upstream
let gateway: TestGateway
let folder: string
let user: { userId: string; key: string }
let users = 0

/** A gateway whose free plan is small. */
async function start(): Promise<TestGateway> {
  const started = await startGateway({ upstream, dataDir: folder, config })
  await started.kernel.registry.change('plans', {
    config: { plans: { free: { requests_per_month: limit }, pro: { requests_per_month: 2 * limit } } },
  })
  return started
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-planquota-'))
  upstream = await startUpstream()
  gateway = await start()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

beforeEach(async () => {
  users += 1
  user = await gateway.signUp(`user-${users}`)
})

afterEach(() => {
  vi.useRealTimers()
  upstream.reset()
})

const messages = [{ role: 'user' as const, content: 'Hello' }]

/** A call of the official client: `ok`, or what it was refused with. */
async function ask(stream = false, key = user.key): Promise<'ok' | InstanceType<typeof OpenAI.APIError>> {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })
  try {
    const made = await client.chat.completions.create({ model: 'gpt-4o-mini', messages, stream })
    if (Symbol.asyncIterator in made) for await (const _ of made);
    return 'ok'
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error
    throw error
  }
}

const plain = (body: object = {}, key = user.key) =>
  gateway.api('POST', '/v1/chat/completions', { model: 'gpt-4o-mini', messages, ...body }, key)

const nextMonth = (now = new Date()): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)

test('of many calls at once, plain and streamed, exactly those of the plan are admitted', async () => {
  const answers = await Promise.all(Array.from({ length: 4 * limit }, (_, n) => ask(n % 2 === 0)))
  const refused = answers.filter((answer) => answer !== 'ok')
  expect(refused).toHaveLength(3 * limit)
  expect(upstream.requests).toHaveLength(limit)
  for (const error of refused) {
    expect(error).toBeInstanceOf(OpenAI.RateLimitError)
    expect(error).toMatchObject({
      code: 'rate_limited',
      error: { module: 'planquota', details: { scope: 'user', plan: 'free', limit } },
    })
    const leftS = (nextMonth() - Date.now()) / 1000
    const told = Number(error.headers?.get('retry-after'))
    expect(told - leftS).toBeGreaterThanOrEqual(0)
    expect(told - leftS).toBeLessThan(60)
    expect(error.headers?.get('x-ratelimit-remaining')).toBe('0')
  }
  const { body } = await gateway.api('GET', '/api/license', undefined, user.key)
  expect(body).toMatchObject({
    tier: 'free',
    limits: { requests_per_month: limit },
    usage: { requests: limit },
  })
  await expect
    .poll(async () => (await gateway.api('GET', '/api/auth/me/usage', undefined, user.key)).body.requests)
    .toBe(limit)
})

test('answers tell what remains, and what was refused before a provider was asked is no request', async () => {
  const remaining = async (body?: object) => (await plain(body)).headers.get('x-plan-remaining')
  expect(await remaining()).toBe(`${limit - 1}`)
  upstream.reply({ status: 500, times: 3 })
  expect(await remaining()).toBe(`${limit - 2}`)
  upstream.reset()
  await gateway.module('outputcap', { enabled: true })
  await gateway.module('ipfence', { enabled: true, config: { deny: ['127.0.0.1'] }, force: true })
  expect((await plain()).status).toBe(403)
  await gateway.module('ipfence', { enabled: false, force: true })
  expect(await remaining()).toBe(`${limit - 3}`)
})

describe('by what became of it', () => {
  /** The answer as it was written. */
  const raw = async (body: object): Promise<string> => {
    const headers = { authorization: `Bearer ${user.key}`, 'content-type': 'application/json' }
    const content = JSON.stringify({ model: 'gpt-4o-mini', messages, ...body })
    return (
      await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body: content })
    ).text()
  }

  /** What is counted of the user: against the quota, and as usage. */
  const counted = async () => {
    const read = async (at: string) => (await gateway.api('GET', at, undefined, user.key)).body
    return [(await read('/api/license')).usage.requests, (await read('/api/auth/me/usage')).requests]
  }

  test.each([false, true])('an answer that a module refuses was asked for (streamed: %j)', async (stream) => {
    const schema = { type: 'object', properties: { a: { enum: ['never'] } }, required: ['a'] }
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } }
    await gateway.module('structuredshield', { enabled: true })
    upstream.reply({ content: '{"a":"other"}', times: Number.POSITIVE_INFINITY })
    const answer = await raw({ response_format, stream })
    expect(answer).toContain('not give an answer that matches the schema')
    expect(upstream.requests.length).toBeGreaterThan(0)
    await expect.poll(counted).toEqual([1, 1])
  })

  test('a call that a pause of its provider keeps back is none', async () => {
    await gateway.module('fallbackrouter', { enabled: true, config: { failure_threshold: 2 } })
    await gateway.module('retrypilot', { enabled: false })
    try {
      upstream.reply({ status: 500, times: 2 })
      const answers = []
      for (let n = 0; n < 4; n += 1) answers.push((await plain({ model: 'gpt-4o' })).body.error.code)
      expect(answers).toEqual(['provider_error', 'provider_error', 'circuit_open', 'circuit_open'])
      await expect.poll(counted).toEqual([2, 2])
    } finally {
      await gateway.module('retrypilot', { enabled: true })
      await gateway.module('fallbackrouter', { config: null })
    }
  })

  test('a call that is refused for its content is none, and an answer from a cache is one', async () => {
    await gateway.module('secretscan', { enabled: true, config: { request: 'block' } })
    await gateway.module('cachelayer', { enabled: true })
    try {
      const messages = [{ role: 'user', content: `my key is ghp_${'a1B2c3D4e5F6'.repeat(3)}` }]
      expect((await plain({ messages })).status).toBe(400)
      for (let n = 0; n < 2; n += 1) expect((await plain({ temperature: 0 })).status).toBe(200)
      expect(upstream.requests).toHaveLength(1)
      await expect.poll(counted).toEqual([2, 2])
    } finally {
      await gateway.module('cachelayer', { enabled: false })
      await gateway.module('secretscan', { config: null })
    }
  })
})

test('a user with another plan has its requests at once, and what was used stays used', async () => {
  for (let n = 0; n < limit; n += 1) expect(await ask()).toBe('ok')
  expect(await ask()).toMatchObject({ status: 429 })
  const { body: checkout } = await gateway.api('POST', '/api/checkout', { plan: 'pro' }, user.key)
  await gateway.api('POST', `/api/checkout/${checkout.id}/complete`)
  for (let n = 0; n < limit; n += 1) expect(await ask(n % 2 === 0)).toBe('ok')
  expect(await ask()).toMatchObject({ status: 429, error: { details: { plan: 'pro', limit: 2 * limit } } })
})

test('the count survives a restart, and turns over with the month in UTC', async () => {
  for (let n = 0; n < limit - 1; n += 1) expect(await ask()).toBe('ok')
  await gateway.close()
  gateway = await start()
  expect(await ask()).toBe('ok')
  expect(await ask()).toMatchObject({ status: 429 })

  vi.useFakeTimers({ toFake: ['Date'], now: nextMonth() - 2000 })
  const last = await plain()
  expect([last.status, last.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[12]$/)])
  vi.setSystemTime(nextMonth() + 1)
  const { status, headers } = await plain()
  expect([status, headers.get('x-plan-remaining')]).toEqual([200, `${limit - 1}`])
})

test('a larger plan is suggested once a month at 80 and at 100 percent, to this user and to admins', async () => {
  const told: unknown[] = []
  const end = gateway.kernel.events.onAny((data, { type }) => {
    if (type.name.startsWith('upgrade.')) told.push([type.name, data])
  })
  const other = await gateway.signUp(`other-${users}`)
  for (let n = 0; n < limit + 3; n += 1) await ask(n % 2 === 0)
  await expect.poll(() => told).toHaveLength(2)
  end()
  const facts = { plan: 'free', limit, user_id: user.userId, target_tier: 'pro' }
  expect(told).toEqual([
    [
      'upgrade.quota_near',
      expect.objectContaining({ details: expect.objectContaining({ ...facts, used: 4, percentage: 80 }) }),
    ],
    [
      'upgrade.quota_reached',
      expect.objectContaining({ details: expect.objectContaining({ ...facts, used: 5, percentage: 100 }) }),
    ],
  ])

  const promptsOf = async (key: string) =>
    (await gateway.api('GET', '/api/upgrade-prompts', undefined, key)).body
  const own = await promptsOf(user.key)
  expect(own).toMatchObject({ tier: 'free', count: 2 })
  const triggers = own.triggers.map(({ trigger }: { trigger: string }) => trigger)
  expect(new Set(triggers)).toEqual(new Set(['quota_near', 'quota_reached']))
  expect(await promptsOf(other.key)).toMatchObject({ count: 0 })
  const all = (await promptsOf(gateway.adminKey)).triggers as { user_id: string }[]
  expect(all.filter(({ user_id }) => user_id === user.userId)).toHaveLength(2)

  const { id } = own.triggers[0]
  const dismiss = (key: string) =>
    gateway.api('DELETE', `/api/upgrade-prompts/${encodeURIComponent(id)}`, undefined, key)
  expect((await dismiss(other.key)).status).toBe(404)
  expect((await dismiss(user.key)).status).toBe(200)
  expect(await promptsOf(user.key)).toMatchObject({ count: 1 })
  await gateway.api('PUT', `/api/auth/users/${user.userId}`, { plan: 'pro' })
  expect(await promptsOf(user.key)).toMatchObject({ tier: 'pro', count: 0 })
})

test('a limit of the operator’s own holds for all callers, and a binding’s for those that pass through it', async () => {
  await gateway.module('planquota', { config: { requests_per_month: 2 } })
  expect((await plain({}, gateway.adminKey)).headers.get('x-plan-remaining')).toBe('1')
  expect(await ask()).toBe('ok')
  expect(await ask()).toMatchObject({ status: 429, error: { details: { scope: 'installation' } } })
  await gateway.module('planquota', { config: { requests_per_month: null } })

  const binding = {
    name: 'one-user',
    config: { requests_per_month: 2 },
    when: { users: [user.userId] },
  }
  const { status } = await gateway.api('POST', '/api/proxy/modules/planquota/bindings', binding)
  expect(status).toBe(201)
  expect([await ask(), await ask()]).toEqual(['ok', 'ok'])
  expect(await ask()).toMatchObject({ status: 429 })
})

test('nobody is limited where plans are not enforced', async () => {
  const open = await startGateway({ upstream })
  try {
    const { key } = await open.signUp()
    const { headers } = await open.api(
      'POST',
      '/v1/chat/completions',
      { model: 'gpt-4o-mini', messages },
      key,
    )
    expect(headers.get('x-plan-remaining')).toBeNull()
    const { body } = await open.api('GET', '/api/proxy/modules/planquota')
    expect(body).toMatchObject({ enabled: true, in_chain: false })
  } finally {
    await open.close()
  }
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Answer, ask } from '../../test/ask.ts'
import { type Dropin, writeDropins } from '../../test/dropins.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const plugins: Record<string, Dropin> = {
  judge: {
    manifest: {
      stage: 'verify',
      failure: 'closed',
      permissions: ['body:write', 'models:10'],
      enabled: false,
    },
    setup: `return { async request(call) {
      await ctx.complete({ model: call.request.model, messages: call.request.messages }, { on: call, as: 'caller' })
    } }`,
  },
}

const base = '/api/modules/tenantwall/tenants'
const model = 'gpt-4o-mini'
/** An answer of 100 tokens costs $0.01 and $1. */
const [cheap, dear] = ['cheap', 'dear']

interface User {
  readonly userId: string
  readonly key: string
}

let upstream: Upstream
let gateway: TestGateway
let dataDir: string
let remove: () => Promise<void>
let config: Record<string, unknown>

beforeAll(async () => {
  upstream = await startUpstream()
  dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-tenants-'))
  const dropins = await writeDropins(plugins)
  remove = dropins.remove
  config = {
    prices: {
      [`openai/${model}`]: { input_usd_per_m: 100_000, output_usd_per_m: 0 },
      [`openai/${cheap}`]: { input_usd_per_m: 0, output_usd_per_m: 100 },
      [`openai/${dear}`]: { input_usd_per_m: 0, output_usd_per_m: 10_000 },
    },
    providers: {
      openai: { base_url: upstream.baseUrl(), api_key: 'sk-test', models: [model, cheap, dear] },
    },
    plugin_dirs: [dropins.folder],
  }
  gateway = await startGateway({ upstream, dataDir, config })
  await gateway.module('tenantwall', { enabled: true })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await remove()
  await rm(dataDir, { recursive: true, force: true })
})

let names = 0
function newName(): string {
  names += 1
  return `user-${names}`
}

/** A tenant with one user. */
async function tenantWith(quotas: object = {}): Promise<User & { readonly id: string }> {
  const user = await gateway.signUp(newName())
  const { status, body } = await gateway.api('POST', base, { name: 'acme', users: [user.userId], quotas })
  expect(status).toBe(201)
  return { ...user, id: body.id }
}

const say = ({ key }: Pick<User, 'key'>, more: object = {}) =>
  ask(gateway, {
    headers: { authorization: `Bearer ${key}` },
    body: { model, messages: [{ role: 'user', content: 'hello' }], ...more },
  })

/** Twenty calls of which none is over before the last one has come. */
async function twentyAtOnce(user: User, usage: Readonly<Record<string, unknown>>, more: object) {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  upstream.reset()
  upstream.reply({ content: 'hi', usage, gate: { opened }, times: Number.POSITIVE_INFINITY })
  const refused: Answer[] = []
  const calls = Array.from({ length: 20 }, async () => {
    const answer = await say(user, more)
    if (answer.status === 429) refused.push(answer)
  })
  await expect.poll(() => refused.length + upstream.requests.length).toBe(20)
  open()
  await Promise.all(calls)
  return { passed: upstream.requests.length, refused }
}

const usageOf = async (id: string) => (await gateway.api('GET', `${base}/${id}/usage`)).body.quotas

const forbidden = { status: 403, body: { error: { code: 'forbidden', module: 'tenantwall' } } }
const usedUp = (quota: string) => ({
  status: 429,
  body: { error: { code: 'rate_limited', module: 'tenantwall', details: { quota } } },
})

describe.each([
  ['plain', {}],
  ['streamed', { stream: true }],
])('a quota, %s', (_, mode) => {
  test('of requests holds exactly for a hundred calls at once, of all users of a tenant and no other', async () => {
    const one = await tenantWith({ requests_per_day: 10 })
    const two = await gateway.signUp(newName())
    await gateway.api('PUT', `${base}/${one.id}/users/${two.userId}`)
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => say(n % 2 ? one : two, mode)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    const refused = answers.find(({ status }) => status !== 200)!
    expect(refused).toMatchObject(usedUp('requests_per_day'))
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(upstream.requests).toHaveLength(10)
    expect(await say(await tenantWith({ requests_per_day: 10 }), mode)).toMatchObject({ status: 200 })
    expect(await usageOf(one.id)).toEqual([
      { quota: 'requests_per_day', limit: 10, used: 10, remaining: 0, resets_in_s: expect.any(Number) },
    ])
  })

  test('of tokens and of spending is settled with what was used', async () => {
    const one = await tenantWith({ tokens_per_month: 1000, spend_usd_per_month: 10 })
    upstream.reply({ content: 'hi', usage: { prompt_tokens: 40, completion_tokens: 10 } })
    expect((await say(one, { ...mode, max_tokens: 900 })).status).toBe(200)
    await vi.waitFor(async () =>
      expect(await usageOf(one.id)).toMatchObject([
        { quota: 'tokens_per_month', used: 50, remaining: 950 },
        { quota: 'spend_usd_per_month', used: 4, remaining: 6 },
      ]),
    )
    upstream.reply({ content: 'hi', usage: { prompt_tokens: 60, completion_tokens: 10 } })
    await say(one, { ...mode, max_tokens: 900 })
    await vi.waitFor(async () => expect((await usageOf(one.id))[1]).toMatchObject({ remaining: 0 }))
    expect(await say(one, mode)).toMatchObject(usedUp('spend_usd_per_month'))
    expect(upstream.requests).toHaveLength(2)
  })

  test('of tokens has room for few answers of unknown length at a time, and learns how long they are', async () => {
    const one = await tenantWith({ tokens_per_month: 40_000 })
    const usage = { prompt_tokens: 10, completion_tokens: 3990 }
    const { passed } = await twentyAtOnce(one, usage, mode)
    expect(passed).toBeGreaterThanOrEqual(9)
    expect(passed).toBeLessThanOrEqual(13)
    const used = async () => (await usageOf(one.id))[0].used
    await expect.poll(used).toBe(passed * 4000)
    await gateway.api('PUT', `${base}/${one.id}`, { quotas: { tokens_per_month: passed * 4000 + 10_000 } })
    expect(await twentyAtOnce(one, usage, mode)).toMatchObject({ passed: 2 })
  })

  test('counts no tokens and no costs of calls that fail or are answered from a cache', async () => {
    const one = await tenantWith({ tokens_per_day: 100_000, spend_usd_per_day: 1000, concurrency: 1 })
    upstream.reply({ status: 400 })
    expect((await say(one, mode)).status).toBe(400)
    await vi.waitFor(async () =>
      expect(await usageOf(one.id)).toMatchObject([{ used: 0 }, { used: 0 }, { used: 0 }]),
    )
    await gateway.module('cachelayer', { enabled: true, config: { ttl_s: 600 } })
    await say(one, mode)
    const used = async () => (await usageOf(one.id)).map((quota: { used: number }) => quota.used)
    await vi.waitFor(async () => expect((await used())[0]).toBe(0))
    const before = await used()
    expect((await say(one, mode)).headers.get('x-cache')).toBe('hit')
    await vi.waitFor(async () => expect(await used()).toEqual(before))
    await gateway.module('cachelayer', { enabled: false })
  })
})

test('calls at a time are bounded, and a client that leaves gives its place back', async () => {
  const one = await tenantWith({ concurrency: 1 })
  upstream.reply({ content: Array.from({ length: 400 }, () => 'word '), gapMs: 20 })
  const leaving = new AbortController()
  const stream = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${one.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'long' }], stream: true }),
    signal: leaving.signal,
  })
  expect(await say(one)).toMatchObject(usedUp('concurrency'))
  leaving.abort()
  await stream.text().catch(() => {})
  await vi.waitFor(async () => expect((await say(one)).status).toBe(200), 5000)
})

test('what a plugin asks on the account of a user counts for the tenant', async () => {
  const one = await tenantWith({ tokens_per_day: 1000, requests_per_day: 10 })
  await gateway.module('judge', { enabled: true })
  upstream.reply({ content: 'hi', usage: { prompt_tokens: 7, completion_tokens: 3 }, times: 2 })
  expect((await say(one)).status).toBe(200)
  await vi.waitFor(async () => expect(await usageOf(one.id)).toMatchObject([{ used: 1 }, { used: 20 }]))
  await gateway.module('judge', { enabled: false })
})

describe.each([
  ['plain', {}],
  ['streamed', { stream: true }],
])('a quota of spending, %s', (_, mode) => {
  const short = { ...mode, model: cheap, max_tokens: 100 }
  const answer = { content: 'hi', usage: { prompt_tokens: 10, completion_tokens: 100 }, delayMs: 50 }
  const saying = (text: string) => ({ error: { message: expect.stringContaining(text) } })
  const always = { times: Number.POSITIVE_INFINITY }
  const spentBy = (asked: readonly { body: unknown }[]): number =>
    asked.reduce((sum, { body }) => sum + ((body as { model: string }).model === dear ? 100 : 1), 0) / 100
  const many = (user: User, more: object) => Promise.all(Array.from({ length: 20 }, () => say(user, more)))
  const settled = (id: string, used: number) =>
    vi.waitFor(async () => expect((await usageOf(id))[0]).toMatchObject({ used }))

  test('has no room for attempts at dearer places than it was asked for', async () => {
    const one = await tenantWith({ spend_usd_per_month: 2.5 })
    const chains = { [cheap]: [cheap, dear] }
    await gateway.module('fallbackrouter', { enabled: true, config: { chains, failure_threshold: 1000 } })
    upstream.reply({ model: cheap }, { status: 500, ...always })
    upstream.reply({ model: dear }, { ...answer, ...always })
    const answers = await many(one, short)
    await gateway.module('fallbackrouter', {
      enabled: false,
      config: { chains: null, failure_threshold: null },
    })
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    expect(answers.find(({ status }) => status !== 200)).toMatchObject(usedUp('spend_usd_per_month'))
    await settled(one.id, 2)
  })

  test('has all attempts of a call set apart that are made at the same time', async () => {
    const one = await tenantWith({ spend_usd_per_month: 2.5 })
    await gateway.module('multicall', { enabled: true, config: { models: [cheap, dear], mode: 'all' } })
    upstream.reply({ ...answer, ...always })
    await many(one, { ...short, stream: false })
    await gateway.module('multicall', { enabled: false, config: { models: null, mode: null } })
    const spent = spentBy(upstream.requests)
    expect(spent).toBeLessThanOrEqual(2.5)
    await settled(one.id, spent)
  })

  test('has room for what answers of unknown length have cost before', async () => {
    const one = await tenantWith({ spend_usd_per_month: 2.5 })
    upstream.reply({ ...answer, usage: { prompt_tokens: 10, completion_tokens: 8000 }, ...always })
    expect((await say(one, { ...mode, model: cheap })).status).toBe(200)
    await settled(one.id, 0.8)
    const answers = await many(one, { ...mode, model: cheap })
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
    await settled(one.id, 2.4)
  })

  test('has room for few answers of unknown length at a time before any is known', async () => {
    const one = await tenantWith({ spend_usd_per_month: 2.5 })
    const usage = { prompt_tokens: 10, completion_tokens: 3000 }
    const { passed, refused } = await twentyAtOnce(one, usage, { ...mode, model: cheap })
    expect(passed).toBeGreaterThanOrEqual(6)
    expect(passed).toBeLessThanOrEqual(10)
    expect(refused[0]!.headers.get('retry-after')).toBe('5')
    const small = await tenantWith({ spend_usd_per_month: 0.1 })
    expect((await say(small, { ...mode, model: cheap })).status).toBe(200)
  })

  test('that is only set apart for calls under way has room again soon', async () => {
    const one = await tenantWith({ spend_usd_per_month: 0.05 })
    upstream.reply({ hang: true, times: 5 })
    const leaving = new AbortController()
    const underWay = Array.from({ length: 5 }, () =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${one.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...short, messages: [{ role: 'user', content: 'hello' }] }),
        signal: leaving.signal,
      }),
    )
    await upstream.received(5)
    const refused = await say(one, short)
    expect(refused).toMatchObject(usedUp('spend_usd_per_month'))
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(refused.body).toMatchObject(saying('0 is used and 0.05 set apart for calls under way'))
    leaving.abort()
    await Promise.allSettled(underWay)
    await settled(one.id, 0)
    upstream.reply({ ...answer, usage: { prompt_tokens: 10, completion_tokens: 500 } })
    expect((await say(one, short)).status).toBe(200)
    await settled(one.id, 0.05)
    const late = await say(one, short)
    expect(late).toMatchObject(usedUp('spend_usd_per_month'))
    expect(late.body).toMatchObject(saying('is used up'))
  })
})

test('what a plugin asks on the account of a user is not asked where a quota has no room', async () => {
  const one = await tenantWith({ tokens_per_day: 45, requests_per_day: 10 })
  await gateway.module('judge', { enabled: true })
  upstream.reply({ content: 'hi', usage: { prompt_tokens: 20, completion_tokens: 2 } })
  expect((await say(one, { max_tokens: 40 })).status).toBe(500)
  expect(upstream.requests).toHaveLength(0)
  await vi.waitFor(async () => expect(await usageOf(one.id)).toMatchObject([{ used: 1 }, { used: 0 }]))
  await gateway.module('judge', { enabled: false })
})

test('a change of quotas refills nothing, null removes one, and those of all tenants are the default', async () => {
  const one = await tenantWith({ requests_per_day: 2 })
  await say(one)
  await gateway.module('tenantwall', { config: { default_quotas: { requests_per_day: 1, concurrency: 9 } } })
  expect((await say(one)).status).toBe(200)
  await gateway.api('PUT', `${base}/${one.id}`, { quotas: { requests_per_day: 3 } })
  expect((await say(one)).status).toBe(200)
  expect(await say(one)).toMatchObject(usedUp('requests_per_day'))
  await gateway.module('tenantwall', { config: { default_quotas: null } })
  const { body } = await gateway.api('PUT', `${base}/${one.id}`, {
    name: 'Acme',
    quotas: { requests_per_day: null },
  })
  expect(body).toMatchObject({ name: 'Acme', quotas: {} })
  expect((await say(one)).status).toBe(200)
})

test('users of a suspended tenant are refused, whatever they do', async () => {
  const one = await tenantWith()
  await gateway.api('PUT', `${base}/${one.id}`, { suspended: true })
  expect(await say(one)).toMatchObject(forbidden)
  expect(await gateway.api('GET', '/api/auth/me', undefined, one.key)).toMatchObject(forbidden)
  await gateway.api('PUT', `${base}/${one.id}`, { suspended: false })
  expect((await say(one)).status).toBe(200)
})

test('users without a tenant share nothing with one, and can be kept out', async () => {
  const user = await gateway.signUp('nobody')
  expect((await say(user)).status).toBe(200)
  expect((await gateway.api('GET', '/api/modules/tenantwall/tenant', undefined, user.key)).status).toBe(404)
  for (const at of [
    '/api/status',
    '/api/proxy/status/',
    '/api/proxy/providers',
    '/api/proxy/providers/openai',
  ]) {
    expect(await gateway.api('GET', at, undefined, user.key)).toMatchObject(forbidden)
    expect((await gateway.api('GET', at)).status).toBe(200)
  }
  await gateway.module('tenantwall', { config: { unassigned: 'refuse' } })
  expect(await say(user)).toMatchObject(forbidden)
  expect((await say({ key: gateway.adminKey })).status).toBe(200)
  await gateway.module('tenantwall', { config: { unassigned: null } })
})

test('a user is in one tenant at the most, and changes it by leaving the first', async () => {
  const [one, two] = [await tenantWith(), await tenantWith()]
  const path = `${base}/${two.id}/users/${one.userId}`
  expect((await gateway.api('PUT', path)).status).toBe(409)
  expect((await gateway.api('POST', base, { name: 'third', users: [one.userId] })).status).toBe(409)
  expect((await gateway.api('DELETE', path)).status).toBe(404)
  await gateway.api('DELETE', `${base}/${one.id}/users/${one.userId}`)
  expect((await gateway.api('PUT', path)).status).toBe(200)
  expect((await gateway.api('PUT', path)).status).toBe(200)
  const { body } = await gateway.api('GET', `${base}/${two.id}/users?limit=1`)
  expect(body).toMatchObject({ total: 2, has_more: true, users: [{ tenant_id: two.id }] })
  expect((await gateway.api('GET', '/api/modules/tenantwall/tenant', undefined, one.key)).body.id).toBe(
    two.id,
  )
})

test('what does not exist is a 404, and what is not understood a 400 that names it', async () => {
  const one = await tenantWith()
  for (const [method, at, body] of [
    ['GET', `${base}/tnt_1`],
    ['GET', `${base}/tnt_1/usage`],
    ['GET', `${base}/tnt_1/users`],
    ['PUT', `${base}/tnt_1`, { name: 'x' }],
    ['DELETE', `${base}/tnt_1`],
    ['PUT', `${base}/tnt_1/users/${one.userId}`],
    ['PUT', `${base}/${one.id}/users/usr_1`],
    ['POST', base, { name: 'x', users: ['usr_1'] }],
  ] as const)
    expect([method, at, (await gateway.api(method, at, body)).status]).toEqual([method, at, 404])
  for (const [body, param] of [
    [{ name: '' }, 'name'],
    [{ name: 'x', quotas: { requests_per_year: 1 } }, 'quotas.requests_per_year'],
    [{ name: 'x', quotas: { tokens_per_day: -1 } }, 'quotas.tokens_per_day'],
  ] as const)
    expect((await gateway.api('POST', base, body)).body.error).toMatchObject({ code: 'bad_request', param })
  expect((await gateway.api('POST', base, { name: 'x' }, one.key)).status).toBe(403)
  await expect(gateway.module('tenantwall', { config: { timezone: 'Mars' } })).rejects.toThrow('timezone')
})

test('a tenant with users is deleted with force only, and its users are in none then', async () => {
  const one = await tenantWith({ requests_per_day: 0 })
  expect(await say(one)).toMatchObject(usedUp('requests_per_day'))
  expect((await gateway.api('DELETE', `${base}/${one.id}`)).status).toBe(409)
  expect(await gateway.api('DELETE', `${base}/${one.id}?force=true`)).toMatchObject({
    status: 200,
    body: { deleted: true, id: one.id },
  })
  expect((await say(one)).status).toBe(200)
  expect((await gateway.api('GET', `${base}/${one.id}`)).status).toBe(404)
})

test('a user that is deleted leaves its tenant', async () => {
  const one = await tenantWith()
  await gateway.api('DELETE', `/api/auth/users/${one.userId}`)
  expect((await gateway.api('GET', `${base}/${one.id}`)).body).toMatchObject({ users: 0 })
})

test('tenants, users and what was used survive a restart', async () => {
  const one = await tenantWith({ requests_per_month: 3 })
  await say(one)
  await say(one)
  await gateway.close()
  gateway = await startGateway({ upstream, dataDir, config })
  await gateway.module('tenantwall', { enabled: true })
  expect((await say(one)).status).toBe(200)
  expect(await say(one)).toMatchObject(usedUp('requests_per_month'))
  const { body } = await gateway.api('GET', `${base}?limit=500`)
  expect(body.tenants.find(({ id }: { id: string }) => id === one.id)).toMatchObject({
    users: 1,
    name: 'acme',
  })
})

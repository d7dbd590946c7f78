import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Spend } from '#kernel'
import { ask } from '../../test/ask.ts'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const prices = {
  'openai/gpt-4o-mini': { input_usd_per_m: 0.1, output_usd_per_m: 0.7 },
  'openai/gpt-4o': { input_usd_per_m: 7.3, output_usd_per_m: 11.9 },
}

let upstream: Upstream
let gateway: TestGateway
let user: { userId: string; key: string }
let users = 0

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config: { prices } })
  await bareChain(gateway)
})

beforeEach(async () => {
  upstream.reset()
  users += 1
  user = await gateway.signUp(`user-${users}`)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const call = async (model: string, tokens: number, headers: Record<string, string> = {}, key = user.key) => {
  const { status } = await ask(gateway, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: { model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: tokens },
  })
  expect(status).toBe(200)
}

const get = async (path: string, key = gateway.adminKey) =>
  (await gateway.api('GET', path, undefined, key)).body

const nano = (usd: number): number => Math.round(usd * 1e9)

interface Trace {
  readonly cost_usd: number | null
  readonly tokens_in: number
  readonly tokens_out: number
  readonly user_id: string | null
  readonly project: string
  readonly model: string
  readonly tags: Record<string, string>
}

async function traces(count?: number): Promise<Trace[]> {
  const read = async () => (await get('/api/observe/traces?limit=500')).traces
  if (count !== undefined) await expect.poll(async () => (await read()).length).toBe(count)
  return read()
}

const sum = (all: readonly Trace[]): number =>
  all.reduce((total, { cost_usd }) => total + nano(cost_usd ?? 0), 0)

test('all sums are what the traces add up to, to the nano-dollar, whoever asks', async () => {
  const before = (await traces()).length
  const other = await gateway.signUp(`other-${users}`)
  for (const tokens of [3, 5, 7]) {
    await call('gpt-4o-mini', tokens, { 'x-project': 'docs', 'x-service-tags': 'team=red,env=prod' })
    await call('gpt-4o', tokens, { 'x-service-tags': 'team=blue' })
    await call('gpt-4o', tokens, { 'x-project': 'docs' }, other.key)
    await call('gpt-4o-mini', tokens, {}, gateway.adminKey)
  }
  const all = await traces(before + 12)
  const own = all.filter(({ user_id }) => user_id === user.userId)
  const reported = { model: 'gpt-4o', usage: { input: 5, output: 5 }, cost_usd: 99 }
  expect((await gateway.api('POST', '/api/observe/traces', reported, user.key)).status).toBe(201)

  const mine = await get(`/api/users/${user.userId}/spend`, user.key)
  expect(mine).toMatchObject({
    user_id: user.userId,
    requests_today: own.length,
    requests_month: own.length,
    tokens_in: own.reduce((total, { tokens_in }) => total + tokens_in, 0),
    tokens_out: own.reduce((total, { tokens_out }) => total + tokens_out, 0),
    currency: 'USD',
    reserved_usd: 0,
    cap: { configured: false, daily_cap: null, remaining_daily: null },
  })
  expect([nano(mine.today), nano(mine.month)]).toEqual([sum(own), sum(own)])
  const history = await get(`/api/users/${user.userId}/spend/history?days=3`, user.key)
  expect(history.daily).toHaveLength(3)
  expect(nano(history.daily[2].cost_usd)).toBe(sum(own))

  const summary = await get('/api/spend')
  expect([nano(summary.total), nano(summary.month), nano(summary.today)]).toEqual([
    sum(all),
    sum(all),
    sum(all),
  ])
  const by = (list: { today: number }[], name: string, value: string) =>
    nano(list.find((line) => (line as unknown as Record<string, unknown>)[name] === value)?.today ?? 0)
  expect(by(summary.by_user, 'user_id', user.userId)).toBe(sum(own))
  expect(by(summary.by_model, 'model', 'gpt-4o')).toBe(sum(all.filter(({ model }) => model === 'gpt-4o')))
  expect(by(summary.by_provider, 'provider', 'openai')).toBe(sum(all))
  expect(nano(summary.by_project.docs.today)).toBe(sum(all.filter(({ project }) => project === 'docs')))
  expect(nano(summary.by_tag['team=red'].today)).toBe(sum(all.filter(({ tags }) => tags.team === 'red')))
  expect(nano(summary.unattributed.today)).toBe(sum(all.filter(({ user_id }) => user_id === null)))
  expect(summary.forecast_month_usd).toBeGreaterThanOrEqual(summary.month)
  expect(summary).not.toHaveProperty('by_tenant')

  const days = await get('/api/spend/history?days=2&by=tag')
  expect(days.daily.map(({ requests }: { requests: number }) => requests)).toEqual([0, all.length])
  expect(nano(days.by['env=prod'].cost_usd)).toBe(sum(all.filter(({ tags }) => tags.env === 'prod')))
})

test('sums say how many calls cost more than is known', async () => {
  const before = (await get('/api/spend')).unpriced ?? { today: 0, month: 0, total: 0 }
  const config = { models: ['gpt-4o-mini', 'openai/unpriced'], mode: 'all' }
  await call('gpt-4o-mini', 3, { 'x-project': 'whole' })
  await gateway.module('multicall', { enabled: true, config })
  try {
    await call('gpt-4o-mini', 3, { 'x-project': 'part' })
  } finally {
    await gateway.module('multicall', { enabled: false, config: null })
  }
  await call('openai/unpriced', 3, { 'x-project': 'none' })
  const ofUser = `/api/users/${user.userId}/spend`
  const mine = () => get(ofUser, user.key)
  await expect.poll(async () => (await mine()).requests_today).toBe(3)
  expect(await mine()).toMatchObject({ unpriced_today: 2, unpriced_month: 2 })
  expect((await get(`${ofUser}/history?days=1`)).daily).toMatchObject([{ requests: 3, unpriced: 2 }])
  expect((await get('/api/spend', user.key)).unpriced).toEqual({ today: 2, month: 2, total: 2 })
  const all = { today: before.today + 2, month: before.month + 2, total: before.total + 2 }
  expect((await get('/api/spend')).unpriced).toEqual(all)
  const { by } = await get('/api/spend/history?days=1&by=project', user.key)
  expect(by).toMatchObject({ part: { unpriced: 1 }, none: { unpriced: 1, cost_usd: 0 } })
  expect(by.part.cost_usd).toBeGreaterThan(0)
  expect(by.whole).not.toHaveProperty('unpriced')
})

describe('a user', () => {
  test('sees the own spending and nobody else’s', async () => {
    const other = await gateway.signUp(`stranger-${users}`)
    for (const path of ['', '/history', '/cap']) {
      const status = async (id: string) =>
        (await gateway.api('GET', `/api/users/${id}/spend${path}`, undefined, user.key)).status
      expect([await status(user.userId), await status(other.userId), await status('usr_none')]).toEqual([
        200, 403, 403,
      ])
      expect((await gateway.api('GET', `/api/users/usr_none/spend${path}`)).status).toBe(404)
    }
    await call('gpt-4o', 3)
    const settled = (path: string) =>
      expect.poll(async () => (await get(path, user.key)).total ?? 0).toBeGreaterThan(0)
    await settled('/api/spend')
    const own = await get('/api/spend', user.key)
    expect(own.by_user).toEqual([{ user_id: user.userId, today: own.today, month: own.month }])
    expect(own.total).toBe((await get(`/api/users/${user.userId}/spend`)).today)
    expect(own.by_model).toHaveLength(1)
    const { daily, by } = await get('/api/spend/history?days=1&by=project', user.key)
    expect([daily[0].requests, by.default.cost_usd]).toEqual([1, own.total])
  })

  test('cannot set a cap, not even the own one', async () => {
    const path = `/api/users/${user.userId}/spend/cap`
    expect((await gateway.api('PUT', path, { daily_cap: 1_000_000 }, user.key)).status).toBe(403)
    expect((await get(path)).configured).toBe(false)
  })
})

test('what is left of a cap agrees with what is spent, also where nothing enforces it', async () => {
  await gateway.api('PUT', `/api/users/${user.userId}/spend/cap`, { daily_cap: 1, monthly_cap: 2 })
  upstream.reply({ usage: { prompt_tokens: 0, completion_tokens: 1000, total_tokens: 1000 }, times: 2 })
  for (const today of [0.0119, 0.0238]) {
    await call('gpt-4o', 1000)
    await expect.poll(async () => (await get(`/api/users/${user.userId}/spend`)).today).toBe(today)
    const left = { remaining_daily: 1 - today, remaining_monthly: 2 - today }
    expect((await get(`/api/users/${user.userId}/spend`)).cap).toMatchObject(left)
    expect(await get(`/api/users/${user.userId}/spend/cap`)).toMatchObject(left)
  }
})

test('caps are set field by field, cleared by null, and checked', async () => {
  const path = `/api/users/${user.userId}/spend/cap`
  const set = async (body: object) => gateway.api('PUT', path, body)
  await set({ daily_cap: 2, timezone: 'Asia/Kolkata' })
  const { body } = await set({ monthly_cap: 30.5, notify_at_pct: [90] })
  expect(body).toMatchObject({
    daily_cap: 2,
    monthly_cap: 30.5,
    soft_cap: null,
    action: 'block',
    notify_at_pct: [90],
    timezone: 'Asia/Kolkata',
    carry_over: false,
    own_keys: true,
    configured: true,
    remaining_daily: 2,
    remaining_monthly: 30.5,
  })
  expect(body.resets_at.daily).toMatch(/T18:30:00\.000Z$/)
  expect((await get(path, user.key)).remaining_daily).toBe(2)
  expect((await set({ daily_cap: null })).body).toMatchObject({ daily_cap: null, remaining_daily: null })
  for (const wrong of [{ daily_cap: -1 }, { timezone: 'Mars/Base' }, { action: 'shout' }, { dayly_cap: 1 }]) {
    const refused = await set(wrong)
    expect([refused.status, refused.body.error.code]).toEqual([400, 'bad_request'])
  }
})

test('the caps of a user go with the account', async () => {
  await gateway.api('PUT', `/api/users/${user.userId}/spend/cap`, { daily_cap: 2 })
  expect(gateway.kernel.service(Spend)!.capsOf(user.userId)).toHaveLength(1)
  expect((await gateway.api('DELETE', `/api/auth/users/${user.userId}`)).status).toBe(200)
  expect((await gateway.api('GET', `/api/users/${user.userId}/spend/cap`)).status).toBe(404)
  expect(gateway.kernel.service(Spend)!.capsOf(user.userId)).toEqual([])
})

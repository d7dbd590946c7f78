import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Answer, ask } from '../../test/ask.ts'
import { bareChain } from '../../test/bare.ts'
import { writeDropins } from '../../test/dropins.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** At the prices below, a call of `max_tokens: 100` that uses them all costs $0.003. */
const prices = {
  'openai/gpt-4o': { input_usd_per_m: 0, output_usd_per_m: 300 },
  'openai/gpt-4o-mini': { input_usd_per_m: 0, output_usd_per_m: 30 },
  'openai/gpt-4.1': { input_usd_per_m: 0, output_usd_per_m: 30 },
  'openai/gpt-4.1-nano': { input_usd_per_m: 0, output_usd_per_m: 30 },
}
const whole = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }

/** Asks the dear model about each call, for its caller, and lets the call go on without an answer. */
const judge = {
  manifest: { stage: 'verify', failure: 'open', permissions: ['body:write', 'models:10'] },
  setup: `return { async request(call) {
    await ctx.complete({ model: 'gpt-4o', max_tokens: 100, messages: call.request.messages }, { on: call, as: 'caller' })
  } }`,
}

let upstream: Upstream
let removeDropins: () => Promise<void>
let gateway: TestGateway
let user: { userId: string; key: string }
let users = 0
const told: { type: string; data: Record<string, unknown> }[] = []

beforeAll(async () => {
  upstream = await startUpstream()
  const { folder, remove } = await writeDropins({ judge })
  removeDropins = remove
  gateway = await startGateway({ upstream, config: { prices, plugin_dirs: [folder] } })
  await bareChain(gateway)
  gateway.kernel.events.onAny((data, { type }) => {
    if (/^(cost|spend)\./.test(type.name))
      told.push({ type: type.name, data: data as Record<string, unknown> })
  })
})

beforeEach(async () => {
  upstream.reset()
  upstream.reply({ usage: whole, times: Number.POSITIVE_INFINITY })
  users += 1
  user = await gateway.signUp(`user-${users}`)
  told.length = 0
})

afterEach(() => {
  vi.useRealTimers()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await removeDropins()
})

const settings = (config: object) =>
  gateway.module('costcap', {
    enabled: true,
    config: {
      daily_usd: null,
      monthly_usd: null,
      max_call_usd: null,
      action: null,
      timezone: null,
      own_keys: null,
      ...config,
    },
  })

const call = (more: object = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  ask(gateway, {
    headers: { authorization: `Bearer ${user.key}`, ...headers },
    body: {
      model: 'gpt-4o-mini',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello' }],
      ...more,
    },
  })

const setCap = async (cap: object, id = user.userId) => {
  const { status, body } = await gateway.api('PUT', `/api/users/${id}/spend/cap`, cap)
  expect([status, body]).toEqual([200, expect.anything()])
  return body
}

const spend = async (id = user.userId) => (await gateway.api('GET', `/api/users/${id}/spend`)).body

/** When everything has settled: nothing is set apart any more. */
const spent = (usd: number) =>
  expect
    .poll(async () => {
      const { today, reserved_usd } = await spend()
      return [today, reserved_usd]
    })
    .toEqual([usd, 0])

const statuses = (answers: readonly Answer[]): Record<number, number> => {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe.each([false, true])('streamed: %j', (stream) => {
  test('a hundred calls at once of $0.10 each spend a cap of $1.00 and no more', async () => {
    await settings({})
    await setCap({ daily_cap: 1 })
    upstream.reset()
    upstream.reply({ usage: { ...whole, completion_tokens: 333 }, times: Number.POSITIVE_INFINITY })
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => call({ stream, model: 'gpt-4o', max_tokens: 333 })),
    )
    expect(statuses(answers)).toEqual({ 200: 10, 429: 90 })
    const refused = answers.find(({ status }) => status === 429)!
    expect([refused.headers.get('retry-after'), refused.body.error]).toMatchObject([
      '5',
      { message: expect.stringContaining('set apart for calls under way') },
    ])
    await spent(0.999)
    expect(upstream.requests).toHaveLength(10)
  })

  test('a refusal says whose cap it is, what is spent, and when the next period begins', async () => {
    await settings({})
    await setCap({ daily_cap: 0.005 })
    expect((await call({ stream })).headers.get('x-estimated-cost-usd')).toBe('0.003')
    await spent(0.003)
    const { status, body, headers } = await call({ stream })
    expect(status).toBe(429)
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
    expect(body.error).toMatchObject({
      code: 'rate_limited',
      type: 'spend_limit',
      module: 'costcap',
      details: { scope: 'user', cap_usd: 0.005, current_usd: 0.003, resets_at: `${tomorrow}T00:00:00.000Z` },
    })
    const retryAfter = Number(headers.get('retry-after'))
    expect(retryAfter).toBeGreaterThan(0)
    expect(Math.abs(Date.now() + retryAfter * 1000 - Date.parse(`${tomorrow}T00:00:00Z`))).toBeLessThan(
      60_000,
    )
  })
})

test('keys, projects and all calls have caps, by name or for each', async () => {
  await settings({ daily_usd: { project: { docs: 0.004, 'team-*': 0.007 } } })
  const inProject = async (project: string) => (await call({}, { 'x-project': `${project}` })).status
  expect([await inProject('docs'), await inProject('docs')]).toEqual([200, 429])
  expect([await inProject('team-a'), await inProject('team-a'), await inProject('team-a')]).toEqual([
    200, 200, 429,
  ])
  expect([await inProject('team-b'), await inProject('other')]).toEqual([200, 200])
  await settings({ monthly_usd: { key: 0.004 } })
  expect((await call()).status).toBe(429)
  user = await gateway.signUp(`other-key-${users}`)
  expect([(await call()).status, (await call()).status]).toEqual([200, 429])
  await settings({ monthly_usd: { service: 0.004 } })
  user = await gateway.signUp(`other-user-${users}`)
  expect((await call()).body.error).toMatchObject({ details: { scope: 'service', period: 'monthly' } })
})

test('a cap counts what was spent before it was set, also where nothing enforced it', async () => {
  await gateway.module('costcap', { enabled: false })
  for (let n = 0; n < 3; n += 1) await call()
  await spent(0.009)
  await settings({})
  await setCap({ daily_cap: 0.013 })
  expect([(await call()).status, (await call()).status]).toEqual([200, 429])
})

test('a call that could cost more than one may is refused at once', async () => {
  await settings({ max_call_usd: 0.0031 })
  expect((await call()).status).toBe(200)
  const { status, body } = await call({ max_tokens: 200 })
  expect([status, body.error]).toEqual([
    429,
    expect.objectContaining({ type: 'spend_limit', message: expect.stringContaining('$0.006') }),
  ])
  expect((await call({ n: 2 })).status).toBe(429)
  const completion = (body: object) =>
    ask(gateway, {
      path: '/v1/completions',
      headers: { authorization: `Bearer ${user.key}` },
      body: { model: 'gpt-4o-mini', max_tokens: 100, ...body },
    })
  expect((await completion({ prompt: 'Hello', best_of: 2 })).status).toBe(429)
  expect((await completion({ prompt: ['Hello', 'Bye'] })).status).toBe(429)
  expect(upstream.requests).toHaveLength(1)
})

test('the estimate is for the model that the call really goes to', async () => {
  await settings({ max_call_usd: 1 })
  await gateway.module('modelalias', { enabled: true, config: { aliases: { best: 'gpt-4o' } } })
  const { headers } = await call({ model: 'best' })
  expect(headers.get('x-estimated-cost-usd')).toBe('0.03')
  await gateway.module('modelalias', { enabled: false, config: { aliases: null } })
})

test('a call whose length is not known counts as the dearest recent one of its model, else as the most that one may cost', async () => {
  await settings({ max_call_usd: 0.02 })
  const open = () => call({ max_tokens: undefined, model: 'gpt-4.1-mini' })
  const basisOf = async ({ headers }: Answer) => [
    headers.get('x-estimated-cost-usd'),
    await vi.waitFor(async () => {
      const { status, body } = await gateway.api('GET', `/api/observe/traces/${headers.get('x-trace-id')}`)
      expect(status).toBe(200)
      return body.modules.find(({ module }: { module: string }) => module === 'costcap').detail.by
    }),
  ]
  expect(await basisOf(await open())).toEqual(['0.02', 'otherwise'])
  upstream.reset()
  upstream.reply({ usage: { ...whole, completion_tokens: 10_000 } })
  await call({ max_tokens: 10_000, model: 'gpt-4.1-mini' })
  await expect
    .poll(async () => basisOf(await open()))
    .toEqual([String((10_000 * 1.6 + 10 * 0.4) / 1e6), 'recent'])
})

test.each([
  ['gpt-4.1-nano', false],
  ['gpt-4.1', true],
])(
  'the first calls of %s, of whose lengths nothing is known, set apart what long answers cost (streamed: %j)',
  async (model, stream) => {
    await settings({})
    await setCap({ daily_cap: 1 })
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    upstream.reset()
    upstream.reply({
      usage: { ...whole, completion_tokens: 3000 },
      gate: { opened },
      times: Number.POSITIVE_INFINITY,
    })
    const refused: Answer[] = []
    const calls = Array.from({ length: 30 }, async () => {
      const answer = await call({ max_tokens: undefined, model, stream })
      if (answer.status === 429) refused.push(answer)
      return answer
    })
    await expect.poll(() => refused.length + upstream.requests.length).toBe(30)
    expect(refused[0]!.headers.get('retry-after')).toBe('5')
    open()
    const { 200: passed = 0 } = statuses(await Promise.all(calls))
    expect(passed).toBeGreaterThanOrEqual(8)
    expect(passed).toBeLessThanOrEqual(12)
    await spent(Math.round(passed * 9) / 100)
  },
)

test('a cap too small for a long answer has room for calls of whose lengths nothing is known', async () => {
  await settings({})
  await setCap({ daily_cap: 0.005 })
  const answer = await call({ max_tokens: undefined, model: 'gpt-3.5-turbo' })
  expect([answer.status, answer.headers.get('x-estimated-cost-usd')]).toEqual([200, '0.0025'])
})

test('a name that only a fallback chain knows is under the caps, too', async () => {
  await settings({ max_call_usd: 0.003 })
  await gateway.module('fallbackrouter', { enabled: true, config: { chains: { any: ['gpt-4o-mini'] } } })
  await setCap({ daily_cap: 0.005 })
  expect((await call({ model: 'any' })).status).toBe(200)
  await spent(0.003)
  expect((await call({ model: 'any' })).status).toBe(429)
  await settings({})
  await setCap({ daily_cap: 0.003 })
  expect((await call({ model: 'any' })).status).toBe(429)
  await setCap({ action: 'downgrade' })
  expect((await call({ model: 'any' })).status).toBe(429)
  expect(upstream.requests).toHaveLength(1)
  await gateway.module('fallbackrouter', { enabled: false, config: { chains: null } })
})

describe('what a call costs in the end', () => {
  test.each([false, true])(
    'is what is known of several models of which one has no price (streamed: %j)',
    async (stream) => {
      await settings({})
      await setCap({ daily_cap: 0.006 })
      const config = { models: ['gpt-4o-mini', 'openai/unpriced'], mode: 'all' }
      await gateway.module('multicall', { enabled: true, config })
      try {
        const answers = []
        for (const n of [1, 2]) {
          answers.push(await call({ stream }))
          await spent(n * 0.003)
        }
        answers.push(await call({ stream }))
        expect(statuses(answers)).toEqual({ 200: 2, 429: 1 })
        expect(upstream.requests).toHaveLength(4)
      } finally {
        await gateway.module('multicall', { enabled: false, config: null })
      }
    },
  )

  test('is what counts, however much was set apart for it', async () => {
    await settings({})
    await setCap({ daily_cap: 0.01 })
    upstream.reset()
    upstream.reply({ usage: { ...whole, completion_tokens: 1 }, times: 8 })
    const answers = []
    for (let n = 0; n < 8; n += 1) answers.push(await call({ max_tokens: 300 }))
    expect(statuses(answers)).toEqual({ 200: 8 })
    await spent(8 * 0.00003)
  })

  test.each(['error', 'refused', 'left'])(
    'a call that ends otherwise sets nothing apart: %s',
    async (how) => {
      await settings({})
      await setCap({ daily_cap: 0.01 })
      upstream.reset()
      if (how === 'error') {
        upstream.reply({ status: 500 })
        expect((await call()).status).toBe(502)
      } else if (how === 'refused') {
        expect((await call({ model: 'openai/unheard-of', max_tokens: -1 })).status).toBeGreaterThanOrEqual(
          400,
        )
      } else {
        upstream.reply({ hang: true })
        const left = new AbortController()
        const leaving = fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${user.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            model: 'gpt-4o-mini',
            max_tokens: 100,
            messages: [{ role: 'user', content: 'Hello' }],
          }),
          signal: left.signal,
        })
        const request = await upstream.received(1)
        expect((await spend()).reserved_usd).toBe(0.003)
        expect((await spend()).cap.remaining_daily).toBe(0.007)
        left.abort()
        await leaving.catch(() => {})
        await request.closed
      }
      await expect.poll(async () => (await spend()).reserved_usd).toBe(0)
    },
  )

  test("with a user's own key counts unless the cap says otherwise", async () => {
    await settings({})
    const own = await startUpstream({ apiKey: ['sk-test', 'sk-own-key'] })
    const other = await startGateway({ upstream: own, config: { prices } })
    const { userId, key } = await other.signUp('own')
    await other.api('PUT', '/api/auth/me/providers/openai', { api_key: 'sk-own-key' }, key)
    own.reply({ usage: whole, times: Number.POSITIVE_INFINITY })
    const asked = async () =>
      (
        await ask(other, {
          headers: { authorization: `Bearer ${key}` },
          body: { model: 'gpt-4o-mini', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
        })
      ).status
    await other.api('PUT', `/api/users/${userId}/spend/cap`, { daily_cap: 0.004, own_keys: false })
    expect([await asked(), await asked(), await asked()]).toEqual([200, 200, 200])
    expect(own.last().key).toBe('sk-own-key')
    await expect
      .poll(async () => (await other.api('GET', `/api/users/${userId}/spend`)).body.today)
      .toBe(0.009)
    await other.api('PUT', `/api/users/${userId}/spend/cap`, { own_keys: true })
    expect(await asked()).toBe(429)
    await other.close()
    await own.close()
  })
})

describe('what happens at a cap', () => {
  test('with warn is told, and nothing else', async () => {
    await settings({})
    await setCap({ daily_cap: 0.006, action: 'warn' })
    for (let n = 0; n < 5; n += 1) expect((await call()).status).toBe(200)
    await spent(0.015)
    await expect.poll(() => told.filter(({ type }) => type === 'spend.cap_exceeded')).toHaveLength(1)
  })

  test('with downgrade and a model sends calls to that model', async () => {
    await settings({})
    await setCap({ daily_cap: 0.03, action: 'downgrade', downgrade_model: 'gpt-4o-mini' })
    const first = await call({ model: 'gpt-4o' })
    expect([upstream.last().body, first.headers.get('x-model-downgraded')]).toMatchObject([
      { model: 'gpt-4o' },
      null,
    ])
    await spent(0.03)
    const second = await call({ model: 'gpt-4o' })
    expect([upstream.last().body, second.headers.get('x-model-downgraded')]).toMatchObject([
      { model: 'gpt-4o-mini' },
      'gpt-4o->gpt-4o-mini',
    ])
    expect(second.headers.get('x-estimated-cost-usd')).toBe('0.003')
    const same = await call()
    expect([same.status, same.headers.get('x-model-downgraded')]).toEqual([200, null])
  })

  test('with downgrade is found by calls at the same time one after the other', async () => {
    await settings({})
    await setCap({ daily_cap: 0.06, action: 'downgrade', downgrade_model: 'gpt-4o-mini' })
    await Promise.all(Array.from({ length: 10 }, () => call({ model: 'gpt-4o' })))
    const asked = upstream.requests.map(({ body }) => (body as { model: string }).model).sort()
    // Two use the cap up, and the others go to the model that it names.
    expect(asked).toEqual([...Array(2).fill('gpt-4o'), ...Array(8).fill('gpt-4o-mini')])
  })

  test('with downgrade, and nothing that would lower the model, refuses', async () => {
    await settings({})
    await setCap({ daily_cap: 0.003, action: 'downgrade' })
    expect((await call()).status).toBe(200)
    await spent(0.003)
    expect((await call()).status).toBe(429)
  })
})

describe('a call that is tried at several places', () => {
  const models = ['gpt-4o-mini', 'gpt-4o']
  const asked = () => upstream.requests.map(({ body }) => (body as { model: string }).model)

  test('has each of them set apart: one that the cap has no room for is not asked', async () => {
    await settings({})
    await gateway.module('multicall', { enabled: true, config: { models, mode: 'all' } })
    await setCap({ daily_cap: 0.032 })
    expect((await call()).status).toBe(200)
    expect(asked()).toEqual(['gpt-4o-mini'])
    await spent(0.003)
    await setCap({ daily_cap: 1 })
    upstream.reset()
    upstream.reply({ hang: true, times: 2 })
    const left = new AbortController()
    const both = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
      signal: left.signal,
    })
    await upstream.received(2)
    expect((await spend()).reserved_usd).toBe(0.033)
    left.abort()
    await expect(both).rejects.toThrow()
    await spent(0.003)
    await gateway.module('multicall', { enabled: false, config: { models: null, mode: null } })
  })

  test('needs nothing more for a retry, and room for what a dearer one costs more', async () => {
    await settings({})
    await gateway.module('fallbackrouter', {
      enabled: true,
      config: { chains: { 'gpt-4o-mini': [...models] } },
    })
    await setCap({ daily_cap: 0.03 })
    upstream.reset()
    upstream.reply({ status: 500 })
    upstream.reply({ usage: whole })
    expect((await call()).status).toBe(200)
    expect(asked()).toEqual(models)
    await spent(0.03)
    await setCap({ daily_cap: 0.055 })
    upstream.reset()
    upstream.reply({ status: 500 })
    upstream.reply({ usage: whole })
    expect((await call()).status).toBe(429)
    expect(asked()).toEqual(['gpt-4o-mini'])
    await gateway.module('fallbackrouter', { enabled: false, config: { chains: null } })
  })
})

describe.each([false, true])('what a plugin asks for the caller, streamed: %j', (stream) => {
  beforeEach(() => gateway.module('judge', { enabled: true }))
  afterEach(() => gateway.module('judge', { enabled: false }))

  test('counts under the caps of the caller once, as soon as it is over', async () => {
    await settings({})
    await setCap({ daily_cap: 1 })
    expect((await call({ stream })).status).toBe(200)
    await spent(0.033)
    const { cap } = await spend()
    expect(cap.remaining_daily).toBe(0.967)
  })

  test('is not asked where a cap has no room for it, however many calls ask at once', async () => {
    await settings({ daily_usd: { key: 0.1 } })
    const answers = await Promise.all(Array.from({ length: 20 }, () => call({ stream })))
    await expect.poll(async () => (await spend()).today).toBeGreaterThan(0.03)
    expect(statuses(answers)[200]).toBeGreaterThan(0)
    const millis = { 'gpt-4o': 30, 'gpt-4o-mini': 3 }
    const asked = upstream.requests.map(({ body }) => (body as { model: keyof typeof millis }).model)
    const usd = asked.reduce((sum, model) => sum + millis[model], 0) / 1000
    expect(usd).toBeLessThanOrEqual(0.1)
    await spent(usd)
  })
})

test('each threshold is told once a period, and so is the cap', async () => {
  await settings({})
  await setCap({ daily_cap: 0.01, monthly_cap: 1, soft_cap: 0.008 })
  const answers = []
  for (let n = 0; n < 6; n += 1) answers.push(await call())
  expect(statuses(answers)).toEqual({ 200: 3, 429: 3 })
  await expect.poll(() => told.length).toBe(6)
  const about = { scope: 'user', scope_id: user.userId }
  expect(told.filter(({ type }) => type === 'cost.threshold').map(({ data }) => data)).toEqual([
    expect.objectContaining({
      ...about,
      threshold_usd: 0.005,
      percent: 50,
      current_usd: 0.006,
      period: 'daily',
    }),
    expect.objectContaining({
      ...about,
      threshold_usd: 0.008,
      percent: 80,
      current_usd: 0.009,
      period: 'daily',
    }),
    expect.objectContaining({ ...about, threshold_usd: 0.008, percent: 100, period: 'monthly' }),
    expect.objectContaining({
      ...about,
      threshold_usd: 0.01,
      percent: 100,
      current_usd: 0.009,
      period: 'daily',
    }),
  ])
  expect(told.filter(({ type }) => type === 'spend.cap_exceeded').map(({ data }) => data)).toEqual([
    expect.objectContaining({ ...about, period: 'monthly', cap_usd: 0.008, action: 'warn' }),
    expect.objectContaining({ ...about, period: 'daily', cap_usd: 0.01, action: 'block' }),
  ])
})

describe('a period ends at midnight of its time zone', () => {
  test.each([
    ['in Asia/Kolkata', 'Asia/Kolkata', '2031-03-10T18:00:00Z', '2031-03-10T18:30:00.000Z'],
    [
      'after the 23 hours of a day in Europe/Berlin',
      'Europe/Berlin',
      '2031-03-29T23:30:00Z',
      '2031-03-30T22:00:00.000Z',
    ],
  ])('%s', async (_, timezone, begin, end) => {
    await settings({})
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(begin) })
    await setCap({ daily_cap: 0.004, timezone })
    expect((await call()).status).toBe(200)
    const refused = await call()
    expect(refused.status).toBe(429)
    expect(refused.body.error).toMatchObject({ details: { resets_at: end } })
    expect(Number(refused.headers.get('retry-after'))).toBe((Date.parse(end) - Date.now()) / 1000)
    vi.setSystemTime(Date.parse(end) - 1)
    expect((await call()).status).toBe(429)
    vi.setSystemTime(Date.parse(end))
    expect((await call()).status).toBe(200)
    expect((await spend()).cap.resets_at.daily > end).toBe(true)
    await expect.poll(async () => (await spend()).today).toBe(0.003)
  })

  test('and what it leaves is carried over where the cap says so', async () => {
    await settings({})
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2032-05-01T12:00:00Z') })
    await setCap({ daily_cap: 0.007, carry_over: true })
    vi.setSystemTime(Date.parse('2032-05-02T12:00:00Z'))
    expect((await call()).status).toBe(200)
    await spent(0.003)
    expect((await spend()).cap.remaining_daily).toBe(0.004)
    vi.setSystemTime(Date.parse('2032-05-03T12:00:00Z'))
    expect((await spend()).cap.remaining_daily).toBe(0.011)
    const answers = []
    for (let n = 0; n < 4; n += 1) answers.push(await call())
    expect(statuses(answers)).toEqual({ 200: 3, 429: 1 })
  })
})

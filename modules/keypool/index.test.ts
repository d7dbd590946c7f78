import OpenAI, { type APIError } from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Occurrence } from '#kernel'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const keys = [
  'sk-first-key-of-the-pool-AAAA',
  'sk-second-key-of-the-pool-BBBB',
  'sk-third-key-of-the-pool-CCCC',
] as const
const [one, two, three] = keys
const own = 'sk-own-key-of-a-user-DDDD'

let upstream: Upstream
let gateway: TestGateway
let client: OpenAI
let told: Occurrence[]

beforeAll(async () => {
  upstream = await startUpstream({ apiKey: [...keys, own] })
})

afterAll(() => upstream.close())

beforeEach(() => upstream.reset())

afterEach(() => gateway.close())

/** A gateway with these keys for the one provider, each with its weight. */
async function start(weights: Record<string, number>, config: object = {}): Promise<void> {
  const pool = Object.entries(weights).map(([api_key, weight]) => ({ api_key, weight }))
  const modules = { keypool: { enabled: true, config }, retrypilot: { enabled: false } }
  gateway = await startGateway({
    config: { providers: { openai: { base_url: upstream.baseUrl(), keys: pool } }, modules },
  })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
  told = []
  gateway.kernel.events.onAny((_, occurrence) => told.push(occurrence))
}

const messages = [{ role: 'user' as const, content: 'Hello' }]
const ask = (model = 'gpt-4o') => client.chat.completions.create({ model, messages })
const failureOf = (promise: Promise<unknown>): Promise<APIError> =>
  promise.then(
    () => Promise.reject(new Error('it was answered')),
    (reason: APIError) => reason,
  )
const always = Number.POSITIVE_INFINITY
const uses = (key: string): number => upstream.requests.filter((request) => request.key === key).length
const reports = async (): Promise<{ kind: string; detail: string }[]> =>
  (await gateway.api('GET', '/api/proxy/modules/keypool/events')).body.events

async function askMany(calls: number, width = 8): Promise<void> {
  let left = calls
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      await ask()
    }
  }
  await Promise.all(Array.from({ length: width }, caller))
}

test('calls are shared by weight', async () => {
  await start({ [one]: 5, [two]: 3, [three]: 2 })
  await askMany(500)
  for (const [key, share] of [
    [one, 250],
    [two, 150],
    [three, 100],
  ] as const) {
    expect(Math.abs(uses(key) - share)).toBeLessThanOrEqual(3)
  }
})

test('while one key is limited no call fails, and that key rests for as long as its provider said', async () => {
  await start({ [one]: 1, [two]: 1 })
  upstream.reply({ key: one }, { retryAfter: 1, times: always })
  await ask()
  await ask()
  const limited = upstream.requests.find(({ key }) => key === one)!
  await askMany(200)
  expect(uses(two)).toBe(202)
  const backAgain = async (): Promise<boolean> => {
    await ask()
    return uses(one) > 1
  }
  await expect.poll(backAgain, { timeout: 5000, interval: 50 }).toBe(true)
  const [, next] = upstream.requests.filter(({ key }) => key === one)
  expect(next!.receivedAt - limited.receivedAt).toBeGreaterThanOrEqual(990)
})

test('streams go on with another key as well', async () => {
  await start({ [one]: 1, [two]: 1 })
  upstream.reply({ key: one }, { status: 429, times: always })
  for (let n = 0; n < 4; n += 1) {
    let text = ''
    for await (const { choices } of await client.chat.completions.create({
      model: 'gpt-4o',
      messages,
      stream: true,
    })) {
      text += choices[0]?.delta.content ?? ''
    }
    expect(text).toContain('Hello')
  }
})

test("the last key that can be used is tried by every call, and the client sees its provider's word", async () => {
  await start({ [one]: 1, [two]: 1 })
  upstream.reply({ key: one }, { retryAfter: 40, times: always })
  upstream.reply({ key: two }, { retryAfter: 20, times: always })
  const first = await failureOf(ask())
  const [last] = upstream.requests.slice(-1).map(({ key }) => key)
  for (let n = 0; n < 3; n += 1) {
    const error = await failureOf(ask())
    expect(error).toBeInstanceOf(OpenAI.RateLimitError)
    expect(error.headers?.get('retry-after')).toBe(first.headers?.get('retry-after'))
  }
  expect(upstream.requests.map(({ key }) => key).slice(2)).toEqual([last, last, last])
})

test('one key rests for no limit: every call is tried, and nothing is said of a rest', async () => {
  await start({ [one]: 1 })
  upstream.reply({ retryAfter: 30, times: 2 })
  for (let n = 0; n < 2; n += 1) {
    const error = await failureOf(ask())
    expect([error.status, error.headers?.get('retry-after')]).toEqual([429, '30'])
  }
  upstream.reply({ status: 429 })
  expect((await failureOf(ask())).status).toBe(429)
  await ask()
  expect(uses(one)).toBe(4)
  expect(await reports()).toEqual([])
})

test('a key beside one that was refused is the last that can be used', async () => {
  await start({ [one]: 1, [two]: 1 })
  upstream.reply({ key: one }, { status: 401, times: always })
  upstream.reply({ key: two }, { retryAfter: 30, times: always })
  await failureOf(ask())
  await failureOf(ask())
  upstream.reset()
  upstream.reply({ key: two }, { retryAfter: 30, times: always })
  for (let n = 0; n < 2; n += 1) expect((await failureOf(ask())).headers?.get('retry-after')).toBe('30')
  expect(uses(two)).toBe(2)
})

test('a key that rests is tried when the others are refused after it', async () => {
  await start({ [one]: 1, [two]: 1 })
  upstream.reply({ key: one }, { retryAfter: 30 })
  upstream.reply({ key: two }, { status: 401, times: always })
  await failureOf(ask())
  await ask()
  expect(upstream.requests.at(-1)?.key).toBe(one)
})

test('a limit is of a key for a model: with others it is used', async () => {
  await start({ [one]: 1, [two]: 1 })
  upstream.reply({ key: one, model: 'gpt-4o' }, { retryAfter: 30, times: always })
  for (let n = 0; n < 4; n += 1) await ask('gpt-4o')
  expect(uses(one)).toBe(1)
  for (let n = 0; n < 4; n += 1) await ask('gpt-4.1')
  expect(uses(one)).toBe(3)
})

test('a refused key is put aside, which is reported and told, and no call fails', async () => {
  await start({ [one]: 1, [two]: 1 }, { quarantine_s: 60 })
  upstream.reply({ key: one }, { status: 401, times: always })
  await askMany(20, 1)
  expect(uses(one)).toBe(1)
  expect(told.filter(({ type }) => type.name === 'provider.key_quarantined').map(({ data }) => data)).toEqual(
    [{ provider: 'openai', model: null, key_hint: 'AAAA', status: 401, quarantine_s: 60 }],
  )
  expect(await reports()).toContainEqual(
    expect.objectContaining({ kind: 'quarantined', detail: expect.stringContaining('AAAA') }),
  )
})

test('a caller who asks for a model that no key may use takes the keys from nobody', async () => {
  await start({ [one]: 1, [two]: 1 })
  upstream.reply({ model: 'gpt-secret' }, { status: 403, times: always })
  for (let n = 0; n < 3; n += 1) expect(await failureOf(ask('gpt-secret'))).toMatchObject({ status: 502 })
  await askMany(4)
  expect(
    upstream.requests
      .slice(-4)
      .map(({ key }) => key)
      .toSorted(),
  ).toEqual([one, one, two, two])
})

test('a key that was put aside is tried again when its time is over', async () => {
  await start({ [one]: 1, [two]: 1 }, { quarantine_s: 0.2 })
  upstream.reply({ key: one }, { status: 401 })
  await askMany(2, 1)
  expect(uses(one)).toBe(1)
  const backAgain = async (): Promise<boolean> => {
    await ask()
    return uses(one) > 1
  }
  await expect.poll(backAgain).toBe(true)
})

test('refused keys are tried, one a call, when there are no others: they may be good again', async () => {
  await start({ [one]: 1, [two]: 1 })
  upstream.reply({ status: 401, times: 3 })
  await failureOf(ask())
  expect(upstream.requests).toHaveLength(2)
  await failureOf(ask())
  expect(upstream.requests).toHaveLength(3)
  await ask()
})

test("a user's own key is tried whatever it did, and the gateway's keys do not stand in for it", async () => {
  await start({ [one]: 1 })
  const { key } = await gateway.signUp()
  await gateway.api('PUT', '/api/auth/me/providers/openai', { api_key: own }, key)
  const user = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })
  upstream.reset()
  upstream.reply({ key: own }, { retryAfter: 30, times: 2 })
  for (let n = 0; n < 2; n += 1) await failureOf(user.chat.completions.create({ model: 'gpt-4o', messages }))
  await user.chat.completions.create({ model: 'gpt-4o', messages })
  expect([uses(own), uses(one)]).toEqual([3, 0])
})

test('rests survive a change of the settings', async () => {
  await start({ [one]: 1, [two]: 1 })
  upstream.reply({ key: one }, { retryAfter: 30, times: always })
  await askMany(2, 1)
  await gateway.module('keypool', { config: { quarantine_s: 5 } })
  await askMany(4, 1)
  expect(uses(one)).toBe(1)
})

test('no key shows anywhere: not in answers, errors, traces, reports, events or the log', async () => {
  await start({ [one]: 1, [two]: 1 })
  upstream.reply(
    { key: one },
    { status: 401, error: { message: `Incorrect API key provided: ${one}` }, times: 2 },
  )
  upstream.reply({ key: two }, { retryAfter: 30, times: 2 })
  const seen: unknown[] = [await failureOf(ask()).then(({ error, message }) => [error, message])]
  seen.push(await failureOf(ask()).then(({ error, message }) => [error, message]))
  for (const at of [
    '/api/observe/traces',
    '/api/proxy/modules/keypool/events',
    '/api/proxy/providers',
    '/api/proxy/status',
  ]) {
    seen.push((await gateway.api('GET', at)).body)
  }
  const events = told.map(({ type, data }) => (type.name.startsWith('call.') ? type.name : data))
  const text = JSON.stringify([seen, events, gateway.logged])
  for (const key of keys) expect(text).not.toContain(key)
  expect(text).toContain('AAAA')
})

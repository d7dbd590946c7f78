import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Answer, ask } from '../../test/ask.ts'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** An answer of 100 tokens costs a tenth of a dollar at the best model, and less on each rung below. */
const prices = {
  'openai/gpt-4o': { input_usd_per_m: 0, output_usd_per_m: 1000 },
  'openai/gpt-4o-mini': { input_usd_per_m: 0, output_usd_per_m: 100 },
  'openai/gpt-4.1-nano': { input_usd_per_m: 0, output_usd_per_m: 10 },
}
const ladder = { models: ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1-nano'], at_percent: [80, 95] }

let upstream: Upstream
let gateway: TestGateway
let user: { userId: string; key: string }
let users = 0

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config: { prices } })
  await bareChain(gateway)
  await gateway.module('costcap', { enabled: true })
})

beforeEach(async () => {
  upstream.reset()
  const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
  upstream.reply({ usage, times: Number.POSITIVE_INFINITY })
  users += 1
  user = await gateway.signUp(`user-${users}`)
  await gateway.module('tierdrop', { enabled: true, config: { ladders: [ladder] }, when: null })
})

afterEach(() => {
  vi.useRealTimers()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const setCap = (cap: object) => gateway.api('PUT', `/api/users/${user.userId}/spend/cap`, cap)

async function call(more: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await ask(gateway, {
    headers: { authorization: `Bearer ${user.key}`, ...headers },
    body: { model: 'gpt-4o', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], ...more },
  })
  await expect
    .poll(async () => (await gateway.api('GET', `/api/users/${user.userId}/spend`)).body.reserved_usd)
    .toBe(0)
  return answer
}

/** The model that the provider was asked for, and what the client was told. */
const wentTo = ({ headers }: Answer): [model: unknown, told: string | null] => [
  (upstream.last().body as { model: string }).model,
  headers.get('x-model-downgraded'),
]

describe.each([false, true])('streamed: %j', (stream) => {
  test('at 80 % of the cap the next call goes to the next rung, at 95 % one further, and back in the next period', async () => {
    vi.useFakeTimers({
      toFake: ['Date'],
      now: Date.parse(stream ? '2033-07-01T12:00Z' : '2033-08-01T12:00Z'),
    })
    await setCap({ daily_cap: 1 })
    for (let n = 0; n < 8; n += 1) expect(wentTo(await call({ stream }))).toEqual(['gpt-4o', null])
    const first = await call({ stream })
    expect(wentTo(first)).toEqual(['gpt-4o-mini', 'gpt-4o->gpt-4o-mini'])
    expect(first.headers.get('x-estimated-cost-usd')).toBe('0.01')
    for (let n = 0; n < 14; n += 1) await call({ stream })
    expect(wentTo(await call({ stream }))).toEqual(['gpt-4.1-nano', 'gpt-4o->gpt-4.1-nano'])
    expect(wentTo(await call({ stream, model: 'gpt-4o-mini' }))).toEqual([
      'gpt-4.1-nano',
      'gpt-4o-mini->gpt-4.1-nano',
    ])
    expect(wentTo(await call({ stream, model: 'gpt-4.1-nano' }))).toEqual(['gpt-4.1-nano', null])
    vi.setSystemTime(Date.now() + 86_400_000)
    expect(wentTo(await call({ stream }))).toEqual(['gpt-4o', null])
  })
})

test('calls at the same time step down as if they came one after the other', async () => {
  await setCap({ daily_cap: 1 })
  const body = { model: 'gpt-4o', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] }
  const headers = { authorization: `Bearer ${user.key}` }
  await Promise.all(Array.from({ length: 30 }, () => ask(gateway, { headers, body })))
  const asked = Map.groupBy(upstream.requests, (request) => (request.body as { model: string }).model)
  expect(Array.from(asked, ([model, requests]) => [model, requests.length]).sort()).toEqual([
    ['gpt-4.1-nano', 7],
    ['gpt-4o', 8],
    ['gpt-4o-mini', 15],
  ])
})

test('a cap that downgrades lets calls go on at the lowest rung, and refuses models that have none', async () => {
  await setCap({ daily_cap: 0.1, action: 'downgrade' })
  await call()
  for (let n = 0; n < 3; n += 1)
    expect(wentTo(await call())).toEqual(['gpt-4.1-nano', 'gpt-4o->gpt-4.1-nano'])
  expect(wentTo(await call({ model: 'gpt-4.1-nano' }))).toEqual(['gpt-4.1-nano', null])
  const asked = upstream.requests.length
  expect((await call({ model: 'gpt-4.1' })).status).toBe(429)
  await gateway.module('tierdrop', { when: { projects: ['elsewhere'] } })
  expect((await call()).status).toBe(429)
  expect(upstream.requests).toHaveLength(asked)
})

test('a model that an alias stands for steps down', async () => {
  await gateway.module('modelalias', { enabled: true, config: { aliases: { best: 'openai/gpt-4o' } } })
  await setCap({ daily_cap: 0.12 })
  await call({ model: 'best' })
  const lowered = await call({ model: 'best' })
  expect(wentTo(lowered)).toEqual(['gpt-4o-mini', 'gpt-4o->gpt-4o-mini'])
  expect(lowered.headers.get('x-estimated-cost-usd')).toBe('0.01')
  await gateway.module('modelalias', { enabled: false, config: { aliases: null } })
})

test('answers of a lower rung are not the cached answers of a better one', async () => {
  await gateway.module('cachelayer', { enabled: true })
  await gateway.module('tierdrop', { config: { ladders: [{ ...ladder, at_percent: [80] }] } })
  await setCap({ daily_cap: 0.125 })
  const about = (content: string) => call({ messages: [{ role: 'user', content }], temperature: 0 })
  await about(`first ${users}`)
  const count = () => upstream.requests.length
  const before = count()
  await about(`first ${users}`)
  expect([count() - before, wentTo(await about(`second ${users}`))[0]]).toEqual([1, 'gpt-4o-mini'])
  const cheap = count()
  await about(`second ${users}`)
  expect(count()).toBe(cheap)
  await setCap({ daily_cap: 100 })
  expect(wentTo(await about(`second ${users}`))).toEqual(['gpt-4o', null])
  expect(count()).toBe(cheap + 1)
  await gateway.module('cachelayer', { enabled: false })
})

test('a rung that nobody serves is passed over, and one that is not served at all changes nothing', async () => {
  const models = ['gpt-4o', 'nobody/serves-this', 'gpt-4.1-nano']
  await gateway.module('tierdrop', { config: { ladders: [{ models, at_percent: [80] }] } })
  await setCap({ daily_cap: 0.12 })
  await call()
  expect(wentTo(await call())[0]).toBe('gpt-4.1-nano')
  await gateway.module('tierdrop', { config: { ladders: [{ models: models.slice(0, 2) }] } })
  await setCap({ daily_cap: 0.125, action: 'warn' })
  const stays = await call()
  expect([stays.status, stays.body]).toEqual([200, expect.anything()])
  expect(wentTo(stays)).toEqual(['gpt-4o', null])
})

test('a cap holds where the cheaper model is not served', async () => {
  await gateway.module('tierdrop', {
    config: { ladders: [{ models: ['gpt-4o', 'nobody/serves-this'], at_percent: [80] }] },
  })
  await setCap({ daily_cap: 0.125, action: 'block' })
  expect((await call()).status).toBe(200)
  expect((await call()).status).toBe(429)
  expect(upstream.requests).toHaveLength(1)
})

test('a reached cap that downgrades refuses also where a binding has caps with room', async () => {
  const bindings = '/api/proxy/modules/costcap/bindings'
  const bound = { name: 'roomy', config: { daily_usd: { user: 1000 } } }
  expect((await gateway.api('POST', bindings, bound)).status).toBe(201)
  await gateway.module('tierdrop', { when: { projects: ['elsewhere'] } })
  await setCap({ daily_cap: 0.1, action: 'downgrade' })
  expect((await call()).status).toBe(200)
  expect((await call()).status).toBe(429)
  await gateway.api('DELETE', `${bindings}/roomy`)
})

test('a call without caps is left alone, and a ladder names a model once', async () => {
  expect(wentTo(await call())).toEqual(['gpt-4o', null])
  const twice = [{ models: ['a', 'b'] }, { models: ['openai/B', 'c'] }]
  const { status } = await gateway.api('PUT', '/api/proxy/modules/tierdrop', { config: { ladders: twice } })
  expect(status).toBe(400)
})

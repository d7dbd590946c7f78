import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
const told: { type: string; data: Record<string, unknown> }[] = []

const base = '/api/modules/canarydeploy/rollouts'
const canary = 'gpt-4.1'
let rollouts = 0
/** Each test has a rollout of its own, and so its own figures. */
let name = ''

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    config: {
      modules: { retrypilot: { enabled: false }, fallbackrouter: { config: { failure_threshold: 1000 } } },
    },
  })
  gateway.kernel.events.onAny((data, { type }) => {
    if (type.name.startsWith('canary.')) told.push({ type: type.name, data: data as Record<string, unknown> })
  })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(() => {
  upstream.reset()
  told.length = 0
  rollouts += 1
  name = `rollout-${rollouts}`
})

const use = (more: object = {}, others: object = {}) =>
  gateway.module('canarydeploy', {
    enabled: true,
    config: {
      rollouts: {
        [name]: {
          model: 'gpt-4o-mini',
          target: canary,
          steps: [50, 100],
          step_s: 0,
          min_calls: 1000,
          sticky: 'call',
          ...more,
        },
        ...others,
      },
    },
  })
const messages = [{ role: 'user', content: 'Hello' }]
const say = (more: object = {}, headers: Record<string, string> = {}) =>
  ask(gateway, { headers, body: { model: 'gpt-4o-mini', messages, ...more } })
/** Checks of a provider that has failed have no body. */
const models = () =>
  upstream.requests.flatMap(({ body }) => (body ? [(body as { model: string }).model] : []))
const toCanary = () => models().filter((model) => model === canary).length
const look = async (of = name) => (await gateway.api('GET', `${base}/${of}`)).body
const act = (action: string, body?: object) => gateway.api('POST', `${base}/${name}/${action}`, body ?? {})
const always = Number.POSITIVE_INFINITY

/** Calls until a rollout has become what it should. */
async function callUntil(status: string, more: object = {}): Promise<void> {
  for (let n = 0; (await look()).status !== status; n += 1) {
    expect(n).toBeLessThan(300)
    await say(more)
  }
}

test.each([false, true])(
  'a canary that fails gets no more calls within its window, and an event says why (stream: %s)',
  async (stream) => {
    await use()
    upstream.reply({ model: canary }, { status: 500, times: always })
    await callUntil('rolled_back', { stream })
    const failed = toCanary()
    expect(failed).toBeLessThanOrEqual(20)
    const reason = expect.stringMatching(/^\d+ of \d+ calls failed, and 0 of \d+ of the stable model$/)
    expect(await look()).toMatchObject({ status: 'rolled_back', percent: 0, reason })
    await expect
      .poll(() => told)
      .toEqual([
        {
          type: 'canary.rolled_back',
          data: {
            rollout: name,
            model: 'gpt-4o-mini',
            target: canary,
            status: 'rolled_back',
            from_percent: 50,
            percent: 0,
            reason,
          },
        },
      ])
    for (let n = 0; n < 20; n += 1) expect((await say({ stream })).status).toBe(200)
    expect(toCanary()).toBe(failed)
  },
)

test('a stream of the canary that breaks off counts as failed', async () => {
  await use({ steps: [100] })
  upstream.reply({ model: canary }, { content: ['a', 'b', 'c'], cutAfter: 2, times: always })
  for (let n = 0; (await look()).status !== 'rolled_back'; n += 1) {
    expect(n).toBeLessThan(60)
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages, stream: true }),
    })
    await response.text().catch(() => '')
  }
})

test('a failure counts although a fallback answers in the place of the canary', async () => {
  await use({ steps: [100] })
  await gateway.module('fallbackrouter', { config: { chains: { [canary]: [canary, 'gpt-4o'] } } })
  upstream.reply({ model: canary }, { status: 500, times: always })
  for (let n = 0; (await look()).status !== 'rolled_back'; n += 1) {
    expect(n).toBeLessThan(60)
    expect((await say()).status).toBe(200)
  }
  await gateway.module('fallbackrouter', { config: { chains: null } })
})

test('a sound canary goes through its steps, and all calls go there in the end', async () => {
  await use({ steps: [20, 60, 100], min_calls: 3 })
  await callUntil('completed')
  expect(told.map(({ type, data }) => [type, data.from_percent, data.percent])).toEqual([
    ['canary.advanced', 20, 60],
    ['canary.advanced', 60, 100],
    ['canary.completed', 100, 100],
  ])
  const { history } = await look()
  expect(history.map(({ status, percent }: Record<string, unknown>) => [status, percent])).toEqual([
    ['running', 20],
    ['running', 60],
    ['running', 100],
    ['completed', 100],
  ])
  upstream.reset()
  for (let n = 0; n < 10; n += 1) await say()
  expect(models()).toEqual(Array.from({ length: 10 }, () => canary))
})

test('a step lasts as long as it must, and needs its calls', async () => {
  await use({ steps: [50, 100], min_calls: 1, step_s: 3600 })
  for (let n = 0; n < 20; n += 1) await say()
  expect(await look()).toMatchObject({ status: 'running', percent: 50 })
  expect((await look()).canary.calls).toBeGreaterThan(0)
})

test('callers that left and calls that were refused before say nothing of the canary', async () => {
  await use({ steps: [100] })
  const { key } = await gateway.signUp(`user-${name}`)
  const { body } = await gateway.api('GET', '/api/auth/me/keys', undefined, key)
  await gateway.api('PUT', `/api/modules/keyscope/keys/${body.keys[0].id}`, { models: ['gpt-4o-mini'] })
  expect((await say({}, { authorization: `Bearer ${key}` })).status).toBe(403)
  upstream.reply({ hang: true })
  const leave = new AbortController()
  const left = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages }),
    signal: leave.signal,
  })
  await expect.poll(() => upstream.requests.length).toBe(1)
  leave.abort()
  await expect(left).rejects.toThrow()
  await say()
  await expect.poll(async () => (await look()).canary).toMatchObject({ calls: 1, failed: 0 })
})

test('a caller whose own key is refused says nothing of the canary', async () => {
  await use({ steps: [100] })
  const { key } = await gateway.signUp(`user-${name}`)
  await gateway.api('PUT', '/api/auth/me/providers/openai', { api_key: 'sk-expired' }, key)
  upstream.reply({ status: 401, times: 20 })
  for (let n = 0; n < 20; n += 1) await say({}, { authorization: `Bearer ${key}` })
  upstream.reset()
  await say()
  await expect
    .poll(() => look())
    .toMatchObject({ status: 'running', percent: 100, canary: { calls: 1, failed: 0 } })
})

test('requests that are wrong say nothing of the canary', async () => {
  await use({ steps: [100] })
  upstream.reply({ model: canary }, { status: 400, times: 20 })
  for (let n = 0; n < 20; n += 1) expect((await say()).status).toBe(400)
  await say()
  await expect
    .poll(() => look())
    .toMatchObject({ status: 'running', percent: 100, canary: { calls: 1, failed: 0 } })
})

test('of several models that are asked at once, only the canary counts', async () => {
  await use({ steps: [100] })
  const multicall = (models: string[] | null) =>
    gateway.module('multicall', { enabled: models !== null, config: { models, mode: models && 'all' } })
  await multicall(['gpt-4o', 'gpt-4o-mini'])
  upstream.reply({ model: 'gpt-4o' }, { status: 500, times: always })
  for (let n = 0; n < 20; n += 1) expect((await say()).status).toBe(200)
  await expect
    .poll(() => look())
    .toMatchObject({ status: 'running', percent: 100, canary: { calls: 20, failed: 0 } })
  upstream.reset()
  upstream.reply({ model: canary }, { status: 500, times: always })
  await callUntil('rolled_back')
  await multicall(null)
})

test('admins see rollouts, promote them, roll them back, and begin them again', async () => {
  await use({ steps: [1, 100] }, { other: { model: 'gpt-4o', target: 'gpt-4.1', steps: [5] } })
  const { body: list } = await gateway.api('GET', `${base}?limit=1`)
  expect(list).toMatchObject({ total: 2, has_more: true, limit: 1, rollouts: [{ name }] })
  expect((await act('promote', { to: 'next' })).body).toMatchObject({ status: 'running', percent: 100 })
  await say()
  expect(models()).toEqual([canary])
  expect((await act('rollback', { reason: 'it sounds odd' })).body).toMatchObject({
    status: 'rolled_back',
    percent: 0,
    reason: 'it sounds odd',
  })
  await say()
  expect(models()).toEqual([canary, 'gpt-4o-mini'])
  expect((await act('rollback')).status).toBe(409)
  expect((await act('promote')).status).toBe(409)
  expect((await act('restart')).body).toMatchObject({
    status: 'running',
    percent: 1,
    run: 2,
    canary: { calls: 0 },
  })
  expect((await act('promote')).body).toMatchObject({ status: 'completed', percent: 100 })
  expect((await act('promote')).status).toBe(409)
  expect((await gateway.api('GET', `${base}/none`)).status).toBe(404)
  expect((await gateway.api('POST', `${base}/other/promote`, { to: 'half' })).status).toBe(400)
  const { key } = await gateway.signUp(`user-${name}`)
  expect((await gateway.api('GET', base, undefined, key)).status).toBe(403)
  expect((await gateway.api('POST', `${base}/other/rollback`, {}, key)).status).toBe(403)
})

test('a rollout of other models begins anew, and other settings keep it where it is', async () => {
  await use({ steps: [10, 100] })
  await act('promote', { to: 'next' })
  await use({ steps: [10, 20, 100], min_calls: 5000 })
  expect(await look()).toMatchObject({ percent: 100, run: 1 })
  await gateway.module('canarydeploy', { enabled: false })
  await gateway.module('canarydeploy', { enabled: true })
  expect(await look()).toMatchObject({ percent: 100, run: 1 })
  await use({ target: 'gpt-4o' })
  expect(await look()).toMatchObject({ percent: 50, run: 2, target: 'gpt-4o' })
})

test('a user stays with one model, and gets no cached answer of the other', async () => {
  await use({ sticky: 'user', steps: [50] })
  await gateway.module('cachelayer', { enabled: true, config: { share: 'everyone' } })
  const users = await Promise.all(Array.from({ length: 20 }, (_, n) => gateway.signUp(`${name}-${n}`)))
  const seen = new Set<string>()
  for (const { key } of users) {
    const of = async () => {
      const { body } = await say({}, { authorization: `Bearer ${key}` })
      return String(body.model)
    }
    const [first, second] = [await of(), await of()]
    expect(second).toBe(first)
    seen.add(first)
  }
  expect(seen.size).toBe(2)
  expect(models().toSorted()).toEqual([canary, 'gpt-4o-mini'])
  await gateway.module('cachelayer', { enabled: false })
})

test('a call that names its provider takes no part', async () => {
  await use({ steps: [100] })
  await say({}, { 'x-provider': 'openai' })
  expect(models()).toEqual(['gpt-4o-mini'])
})

test('a team has a rollout of its own', async () => {
  await use({ steps: [100] })
  await gateway.module('canarydeploy', { config: { rollouts: {} } })
  const bindings = '/api/proxy/modules/canarydeploy/bindings'
  const config = { rollouts: { own: { model: 'gpt-4o-mini', target: canary, steps: [100] } } }
  const made = await gateway.api('POST', bindings, { name: 'team', config, when: { projects: ['team'] } })
  expect(made.status).toBe(201)
  await say()
  await say({}, { 'x-project': 'team' })
  expect(models()).toEqual(['gpt-4o-mini', canary])
  expect((await look('team:own')).percent).toBe(100)
  await gateway.api('DELETE', `${bindings}/team`)
})

test.each([
  ['steps that fall', { steps: [50, 10] }],
  ['a step of nothing', { steps: [0, 10] }],
  ['a target that is a glob', { target: 'gpt-*' }],
  ['an unknown field', { colour: 'yellow' }],
])('%s are refused', async (_, wrong) => {
  await expect(use(wrong)).rejects.toThrow('config.rollouts')
})

import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kernelServices, type Queues } from '#kernel'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let userKey: string

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  userKey = (await gateway.signUp()).key
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const get = (path: string, key = userKey) => gateway.api('GET', path, undefined, key)
const bare = (path: string) => fetch(gateway.url + path)

const chat = (stream: boolean) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: userKey, maxRetries: 0 }).chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'Hello' }],
    stream,
  })

describe('access', () => {
  test.each(['/health', '/api/health', '/api/plans'])('%s needs no key', async (path) => {
    expect((await bare(path)).status).toBe(200)
  })

  test.each(['/api/status', '/api/license', '/api/apps', '/api/products', '/api/openapi.json'])(
    '%s needs a key, a user key will do',
    async (path) => {
      expect((await bare(path)).status).toBe(401)
      expect((await bare(`${path}?key=${gateway.adminKey}`)).status).toBe(401)
      expect((await get(path, 'sy_live_nobody')).status).toBe(401)
      expect((await get(path)).status).toBe(200)
      expect((await get(path, gateway.adminKey)).status).toBe(200)
    },
  )
})

describe('health', () => {
  test('says ok, and nothing else to strangers', async () => {
    for (const path of ['/health', '/api/health']) {
      expect(await (await bare(path)).json()).toEqual({ status: 'ok' })
    }
  })

  test('is answered while many calls wait for their provider', async () => {
    upstream.reply({ delayMs: 60_000, times: 200 })
    const waiting = new AbortController()
    const calls = Array.from({ length: 200 }, () =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        signal: waiting.signal,
        headers: { authorization: `Bearer ${userKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
      }).catch(() => undefined),
    )
    await upstream.received(upstream.requests.length + 1)
    expect((await bare('/health')).status).toBe(200)
    waiting.abort()
    await Promise.all(calls)
    upstream.reset()
  })
})

test('the plans are those of the documentation', async () => {
  const plans = (await (await bare('/api/plans')).json()) as object
  expect(plans).toMatchObject({
    plans: [
      { id: 'free', name: 'Free', requests_per_month: 1000, price_usd: 0 },
      { id: 'pro', name: 'Pro', requests_per_month: 50_000, price_usd: 29 },
      { id: 'team', name: 'Team', requests_per_month: 500_000, price_usd: 99 },
    ],
    total: 3,
    has_more: false,
  })
  const page = (await (await bare('/api/plans?limit=1&offset=1')).json()) as object
  expect(page).toMatchObject({ plans: [{ id: 'pro' }], total: 3, has_more: true, limit: 1, offset: 1 })
})

test('an installation without a license is self-hosted and unlimited', async () => {
  expect((await get('/api/license')).body).toEqual({
    status: 'active',
    tier: 'self-hosted',
    expires_at: null,
    limits: {},
    usage: {},
  })
})

describe('the status', () => {
  test('counts calls and failures, and how long they took', async () => {
    const before = (await get('/api/status')).body
    await chat(false)
    for await (const _ of (await chat(true)) as AsyncIterable<unknown>);
    upstream.reply({ status: 500, times: 3 })
    await expect(chat(false)).rejects.toMatchObject({ status: 502 })
    await expect
      .poll(async () => (await get('/api/status')).body.total_requests)
      .toBe(before.total_requests + 3)
    const { body } = await get('/api/status')
    const failures = (status: { error_rate: number; total_requests: number }) =>
      Math.round(status.error_rate * status.total_requests)
    expect(failures(body)).toBe(failures(before) + 1)
    expect(body.avg_latency_ms).toBeGreaterThan(0)
    expect(body.overhead_p99_ms).toBeGreaterThan(0)
  })

  test('tells version, uptime, memory, queues and the state of the parts', async () => {
    const { container, registry } = gateway.kernel
    const remove = container
      .resolve<Queues>(kernelServices.queues)
      .add('letters', () => ({ depth: 3, bytes: 120, dropped: 1 }))
    const { body } = await get('/api/status')
    remove()
    expect(body).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      uptime_seconds: expect.any(Number),
      generation: registry.generation.number,
      memory: { rss: expect.any(Number), heap: expect.any(Number) },
      queues: { letters: { depth: 3, bytes: 120, dropped: 1 }, traces: { dropped: 0 } },
      components: {
        store: { status: 'healthy' },
        providers: { status: 'healthy', detail: expect.stringContaining('configured') },
      },
    })
    expect((await get('/api/status')).body.queues).not.toHaveProperty('letters')
  })

  test('follows what the check of a provider has shown', async () => {
    upstream.reply({ path: '/v1/models' }, { status: 500 })
    await gateway.api('POST', '/api/proxy/providers/openai/check')
    const broken = (await get('/api/status')).body
    expect(broken.components.providers).toMatchObject({
      status: 'down',
      detail: expect.stringContaining('openai'),
    })
    expect(broken.status).toBe('degraded')
    await gateway.api('POST', '/api/proxy/providers/openai/check')
    expect((await get('/api/status')).body.components.providers.status).toBe('healthy')
  })
})

describe('the catalogue', () => {
  test('lists the areas that run, with as many endpoints as they have', async () => {
    const { body } = await get('/api/apps')
    const system = body.apps.find(({ name }: { name: string }) => name === 'system')
    expect(system).toMatchObject({ title: 'System', version: '1.0.0', source: 'builtin' })
    const { routes } = gateway.kernel.registry.generation
    expect(system.endpoints).toBe(routes.filter(({ plugin }) => plugin === 'system').length)
    expect(body.total).toBe(body.apps.length)
  })

  test('counts modules by category, as they are switched', async () => {
    const limits = async () =>
      (await get('/api/products')).body.products.find(
        ({ id, kind }: { id: string; kind: string }) => kind === 'modules' && id === 'limits',
      )
    await gateway.kernel.registry.change('outputcap', { enabled: false })
    const before = await limits()
    expect(before.description).toContain('Output cap')
    await gateway.kernel.registry.change('outputcap', { enabled: true })
    expect(await limits()).toMatchObject({ total: before.total, enabled: before.enabled + 1 })
    await gateway.kernel.registry.change('outputcap', { enabled: false })
  })

  test('is a list with bounds', async () => {
    const { body } = await get('/api/products?limit=1&offset=1')
    expect(body.products).toHaveLength(1)
    expect(body).toMatchObject({ limit: 1, offset: 1, has_more: true })
    const wrong = await get('/api/products?limit=0')
    expect([wrong.status, wrong.body.error.param]).toEqual([400, 'limit'])
  })
})

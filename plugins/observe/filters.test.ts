import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import type { TraceItem } from './shapes.ts'

let upstream: Upstream
let gateway: TestGateway
let ada: { userId: string; key: string }
let bob: { userId: string; key: string }
const ids: Record<string, string> = {}

async function call(name: string, key: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ messages: [{ role: 'user', content: `A question by ${name}` }], ...body }),
  })
  await response.text()
  ids[name] = response.headers.get('x-trace-id')!
}

async function add(name: string, key: string, body: object): Promise<void> {
  const { status, body: added } = await gateway.api('POST', '/api/observe/traces', body, key)
  expect(status).toBe(201)
  ids[name] = added.id
}

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    config: { modules: { observe: { config: { retention_days: { rows: 36_500 } } } } },
  })
  ada = await gateway.signUp('ada')
  bob = await gateway.signUp('bob')
  upstream.reply({ content: 'Der Zürichsee "glänzt"\nheute.' })
  await call(
    'first',
    ada.key,
    { model: 'gpt-4o-mini' },
    { 'x-project': 'lake', 'x-service-tags': 'team=a,env=x' },
  )
  await call(
    'second',
    ada.key,
    { model: 'openai/gpt-4o' },
    { 'x-session-id': 'session-2', 'x-service-tags': 'team=b' },
  )
  await call('refused', bob.key, { model: 'no-such-model' })
  await add('dear', bob.key, {
    model: 'gpt-4o',
    provider: 'elsewhere',
    usage: { input: 10, output: 20 },
    cost_usd: 0.02,
    latency_ms: 1234,
    timestamp: '2026-01-02T03:04:05.678Z',
  })
  await add('cheap', bob.key, {
    model: 'gpt-4o',
    provider: 'elsewhere',
    usage: { input: 1, output: 2 },
    cost_usd: 0.0001,
    latency_ms: 999.5,
    timestamp: '2026-01-03T00:00:00Z',
  })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function found(query: string, key = gateway.adminKey): Promise<string[]> {
  const { status, body } = await gateway.api('GET', `/api/observe/traces?${query}`, undefined, key)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.total).toBe(body.traces.length)
  const names = Object.entries(ids)
  return body.traces.map(({ id }: TraceItem) => names.find(([, value]) => value === id)![0])
}

const everything = ['cheap', 'dear', 'refused', 'second', 'first']

describe('a listing', () => {
  test('has everything, newest first, without bodies', async () => {
    expect(await found('')).toEqual(everything)
    const { body } = await gateway.api('GET', '/api/observe/traces')
    expect(Object.keys(body.traces[0])).not.toContain('request')
    expect(body).toMatchObject({ total: 5, has_more: false, limit: 50, offset: 0 })
  })

  test('comes in pages', async () => {
    const { body } = await gateway.api('GET', '/api/observe/traces?limit=2&offset=1')
    expect(body.traces.map(({ id }: TraceItem) => id)).toEqual([ids.dear, ids.refused])
    expect(body).toMatchObject({ total: 5, has_more: true, limit: 2, offset: 1 })
  })

  test.each([
    ['model=gpt-4o-mini', ['first']],
    ['model=gpt-4o', ['cheap', 'dear', 'second']],
    ['model=openai/gpt-4o', ['second']],
    ['provider=elsewhere', ['cheap', 'dear']],
    ['status=error', ['refused']],
    ['project=lake', ['first']],
    ['tag=team=a', ['first']],
    ['tag=team%3Db', ['second']],
    ['source=manual', ['cheap', 'dear']],
    ['session_id=session-2', ['second']],
    ['min_cost=0.0001', ['cheap', 'dear']],
    ['min_cost=0.00012', ['dear']],
    ['min_cost=0.02', ['dear']],
    ['min_latency=999.5', ['cheap', 'dear']],
    ['min_latency=1000', ['dear']],
    ['min_latency=1235', []],
    ['from=2026-01-02&to=2026-01-03', ['dear']],
    ['from=2026-01-02T03:04:05.678Z&to=2026-01-02T03:04:05.679Z', ['dear']],
    ['to=2026-01-02T03:04:05.678Z', []],
    ['from=2026-01-03T01:00:00%2B01:00&to=2026-01-04', ['cheap']],
    ['source=manual&model=gpt-4o&min_cost=0.01', ['dear']],
    ['q=z%C3%BCrichsee', ['first']],
    ['q=%22gl%C3%A4nzt%22%0Aheute', ['first']],
    ['q=a+question+by+second&project=default', ['second']],
    ['q=nowhere', []],
  ])('by %s has %j', async (query, names) => {
    expect(await found(query)).toEqual(names)
  })

  test('by user and key has theirs', async () => {
    expect(await found(`user_id=${ada.userId}`)).toEqual(['second', 'first'])
    const { body } = await gateway.api('GET', `/api/observe/traces/${ids.first}`)
    expect(await found(`key_id=${body.key_id}`)).toEqual(['second', 'first'])
  })

  test('by a text says how far it looked', async () => {
    const { body } = await gateway.api('GET', '/api/observe/traces?q=question')
    expect(body).toMatchObject({ total: 3, search: { searched: 5, complete: true } })
  })

  test('by a text has one total on all its pages, which have each trace once', async () => {
    const seen: string[] = []
    let cursor = ''
    for (let page = 1; page <= 3; page += 1) {
      const { body } = await gateway.api('GET', `/api/observe/traces?q=question&limit=1${cursor}`)
      expect(body).toMatchObject({ total: 3, has_more: page < 3, search: { complete: true } })
      seen.push(...body.traces.map(({ id }: { id: string }) => id))
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(new Set(seen).size).toBe(3)
    const wrong = await gateway.api('GET', '/api/observe/traces?q=question&cursor=5.x')
    expect([wrong.status, wrong.body.error.param]).toEqual([400, 'cursor'])
  })

  test.each(['colour=red', 'tag=team', 'from=yesterday', 'min_cost=-1', 'status=fine', 'limit=501'])(
    'refuses %s, naming the field',
    async (query) => {
      const { status, body } = await gateway.api('GET', `/api/observe/traces?${query}`)
      expect(status).toBe(400)
      expect(body.error.param).toBe(query.slice(0, query.indexOf('=')))
    },
  )
})

describe("a user's key", () => {
  test('lists the user’s own traces, whatever else is asked', async () => {
    expect(await found('', ada.key)).toEqual(['second', 'first'])
    expect(await found('model=gpt-4o', bob.key)).toEqual(['cheap', 'dear'])
    expect(await found('q=question', bob.key)).toEqual(['refused'])
    expect(await found(`user_id=${ada.userId}`, ada.key)).toEqual(['second', 'first'])
  })

  test('asking for another user is refused', async () => {
    const { status, body } = await gateway.api(
      'GET',
      `/api/observe/traces?user_id=${ada.userId}`,
      undefined,
      bob.key,
    )
    expect(status).toBe(403)
    expect(body.error).toMatchObject({ code: 'forbidden', param: 'user_id' })
  })

  test('does not find another user’s trace', async () => {
    expect((await gateway.api('GET', `/api/observe/traces/${ids.first}`, undefined, ada.key)).status).toBe(
      200,
    )
    const other = await gateway.api('GET', `/api/observe/traces/${ids.first}`, undefined, bob.key)
    const unknown = await gateway.api('GET', '/api/observe/traces/tr_unknown', undefined, bob.key)
    expect([other.status, unknown.status]).toEqual([404, 404])
  })

  test('has its own figures', async () => {
    const total = async (path: string, key: string) => (await gateway.api('GET', path, undefined, key)).body
    expect((await total('/api/observe/overview', ada.key)).total_requests).toBe(2)
    expect((await total('/api/observe/overview', bob.key)).total_requests).toBe(3)
    expect(await total('/api/observe/overview', gateway.adminKey)).toMatchObject({
      total_requests: 3,
      manual: { requests: 2, cost_usd: 0.0201 },
    })
    const costs = await total('/api/observe/costs?days=3660', bob.key)
    expect(costs.total_usd).toBeCloseTo(0.0201, 9)
    expect(costs.by_provider.map(({ provider }: { provider: string }) => provider)).toEqual([
      'elsewhere',
      null,
    ])
    const points: { requests: number }[] = (await total('/api/observe/timeseries?period=1h', ada.key)).points
    expect(points.reduce((sum, { requests }) => sum + requests, 0)).toBe(2)
  })

  test('is needed: nothing is public', async () => {
    for (const path of ['traces', 'overview', 'costs', 'costs/daily', 'timeseries', 'live', 'status']) {
      const response = await fetch(`${gateway.url}/api/observe/${path}`)
      expect([path, response.status]).toEqual([path, 401])
      await response.text()
    }
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { bareChain } from '../../../test/bare.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let other: Upstream
let gateway: TestGateway

const config = () => ({
  providers: { other: { type: 'openai', base_url: other.baseUrl(), api_key: 'sk-test' } },
  routes: [{ match: 'from-file', provider: 'other', model: 'gpt-4o' }],
})

beforeAll(async () => {
  upstream = await startUpstream()
  other = await startUpstream()
  gateway = await startGateway({ upstream, config: config() })
  await bareChain(gateway)
})

beforeEach(async () => {
  await put(null)
  upstream.reset()
  other.reset()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await other.close()
})

const table = '/api/proxy/routes'
const put = (routes: unknown, key?: string) => gateway.api('PUT', table, { routes }, key)

const call = (model: string, at = gateway, headers: Record<string, string> = {}) =>
  fetch(`${at.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${at.adminKey}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  })

it('a table that is set holds for the next call, under the name that it says', async () => {
  const { status, body } = await put([{ match: 'gpt-4o*', provider: 'other', model: 'renamed-1' }])
  expect(status).toBe(200)
  expect(body.routes).toEqual([
    { order: 1, match: 'gpt-4o*', provider: 'other', model: 'renamed-1', priority: 0, source: 'api' },
  ])
  expect((await call('gpt-4o-mini')).status).toBe(200)
  expect(upstream.requests).toHaveLength(0)
  expect(other.last().body).toMatchObject({ model: 'renamed-1' })
})

it('of several that match, the highest priority counts, then the one named first', async () => {
  const { body } = await put([
    { match: '*', provider: 'openai', model: 'low', priority: -1 },
    { match: 'a-*', provider: 'openai', model: 'first' },
    { match: 'a-*', provider: 'openai', model: 'second' },
    { match: 'a-b', provider: 'openai', model: 'high', priority: 5 },
  ])
  expect(body.routes.map(({ model }: { model: string }) => model)).toEqual(['high', 'first', 'second', 'low'])
  const asked = async (model: string) => {
    await call(model)
    return upstream.last().body
  }
  expect(await asked('a-b')).toMatchObject({ model: 'high' })
  expect(await asked('a-c')).toMatchObject({ model: 'first' })
  expect(await asked('gpt-4o')).toMatchObject({ model: 'low' })
})

it('X-Provider outweighs the table, and so does the name of a provider in the model', async () => {
  await put([{ match: '*', provider: 'other' }])
  await call('gpt-4o', gateway, { 'x-provider': 'openai' })
  await call('openai/gpt-4o')
  expect(other.requests).toHaveLength(0)
  expect(upstream.requests).toHaveLength(2)
  await call('gpt-4o')
  expect(other.requests).toHaveLength(1)
})

it('an alias is looked up before the table, which then says where its model goes', async () => {
  await gateway.module('modelalias', { enabled: true, config: { aliases: { best: 'gpt-4o' } } })
  await put([
    { match: 'best', provider: 'openai', model: 'never' },
    { match: 'gpt-4o', provider: 'other', model: 'led-here' },
  ])
  await call('best')
  expect(other.last().body).toMatchObject({ model: 'led-here' })
  await gateway.module('modelalias', { enabled: false })
})

it('the table stands in the place of that of the file, until it is cleared', async () => {
  await put([{ match: 'x', provider: 'openai' }])
  expect((await gateway.api('GET', table)).body).toMatchObject({ total: 1, routes: [{ match: 'x' }] })
  expect((await call('from-file')).status).toBe(404)
  const { body } = await put(null)
  expect(body.routes).toMatchObject([{ match: 'from-file', source: 'config' }])
  await call('from-file')
  expect(other.last().body).toMatchObject({ model: 'gpt-4o' })
})

it('an empty table is a table: nothing is routed by the file either', async () => {
  expect((await put([])).body).toMatchObject({ routes: [], total: 0 })
  expect((await call('from-file')).status).toBe(404)
})

it('what is set holds after a restart', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-routes-'))
  const options = { upstream, config: config(), dataDir: path.join(folder, 'data') }
  const first = await startGateway(options)
  await first.api('PUT', table, { routes: [{ match: 'kept', provider: 'other', priority: 3 }] })
  await first.close()
  const second = await startGateway(options)
  const { body } = await second.api('GET', table)
  await second.close()
  await rm(folder, { recursive: true })
  expect(body.routes).toMatchObject([{ match: 'kept', priority: 3, source: 'api' }])
})

it('calls that run while the table changes all arrive, each at the one provider or the other', async () => {
  upstream.reply({ path: '/v1/chat/completions' }, { times: Number.POSITIVE_INFINITY })
  const stop = new AbortController()
  const toggling = (async () => {
    for (let i = 0; !stop.signal.aborted; i++) {
      await put([{ match: 'gpt-4o', provider: i % 2 ? 'openai' : 'other' }])
    }
  })()
  const statuses: number[] = []
  const caller = async (): Promise<void> => {
    for (let i = 0; i < 40; i++) statuses.push((await call('gpt-4o')).status)
  }
  await Promise.all(Array.from({ length: 4 }, caller))
  stop.abort()
  await toggling
  expect(statuses).toHaveLength(160)
  expect(new Set(statuses)).toEqual(new Set([200]))
  const reached = [upstream, other].map(({ requests }) => requests.length)
  expect(reached[0]! + reached[1]!).toBe(160)
  for (const count of reached) expect(count).toBeGreaterThan(0)
})

it.each([
  ['a provider that is not there', [{ match: 'x', provider: 'nobody' }], 'routes.0.provider'],
  ['a rule without a pattern', [{ provider: 'openai' }], 'routes.0.match'],
  ['an unknown field', [{ match: 'x', provider: 'openai', weight: 1 }], 'routes.0.weight'],
  ['a table that is none', 'x', 'routes'],
])('refuses %s and names it', async (_, routes, param) => {
  const { status, body } = await put(routes)
  expect(status).toBe(400)
  expect(body.error.param).toBe(param)
  expect((await gateway.api('GET', table)).body.routes).toMatchObject([{ source: 'config' }])
})

it('any key may read the table, and only an admin may set it', async () => {
  const { key } = await gateway.signUp('reader')
  expect((await gateway.api('GET', table, undefined, key)).status).toBe(200)
  expect((await put([], key)).status).toBe(403)
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let folder: string
let upstream: Upstream
let gateway: TestGateway
let ada: { userId: string; key: string }
const told: { type: string; data: Record<string, unknown> }[] = []

const start = async (): Promise<TestGateway> => {
  const gateway = await startGateway({ upstream, dataDir: path.join(folder, 'data') })
  gateway.kernel.events.onAny((data, { type }) => {
    if (type.name === 'anomaly.found') told.push({ type: type.name, data: data as Record<string, unknown> })
  })
  return gateway
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-radar-'))
  upstream = await startUpstream()
  gateway = await start()
  ada = await gateway.signUp('ada')
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

const messages = [{ role: 'user', content: 'Hello' }]
/** A call whose answer used so many tokens; resolves with the id of its trace. */
async function call(
  tokens: number,
  { model = 'gpt-4o', key = ada.key, stream = false } = {},
): Promise<string> {
  const usage = { prompt_tokens: tokens, completion_tokens: tokens, total_tokens: 2 * tokens }
  upstream.reply({ model }, { content: 'Hi', usage })
  const headers = { authorization: `Bearer ${key}` }
  const answer = await ask(gateway, { headers, body: { model, messages, stream } })
  expect(answer.status).toBe(200)
  return answer.headers.get('x-trace-id')!
}

/** From 600 to 1,600 tokens, in an order that says nothing. */
const ordinary = (n: number): number => 600 + 100 * ((n * 7) % 11)
const calls = async (count: number, options = {}) => {
  for (let n = 0; n < count; n += 1) await call(ordinary(n), options)
}
const list = async (query = '', key = gateway.adminKey) =>
  (await gateway.api('GET', `/api/observe/anomalies?${query}`, undefined, key)).body

test('one call of twenty times the cost is one anomaly, which names its trace and both dimensions', async () => {
  await calls(200)
  const trace = await call(20_000)
  await expect.poll(async () => (await list()).total).toBe(1)
  const { anomalies } = await list()
  const [found] = anomalies
  expect(found).toMatchObject({
    kind: 'call',
    scope: { model: 'gpt-4o', provider: 'openai', user: ada.userId, project: 'default' },
    method: 'median/MAD',
    count: 1,
    sample_trace_ids: [trace],
    acknowledged_at: null,
  })
  const dimensions = found.dimensions.map(({ metric, by }: Record<string, string>) => `${metric} by ${by}`)
  expect(dimensions.sort()).toEqual([
    'cost_usd by model',
    'cost_usd by user',
    'tokens by model',
    'tokens by user',
  ])
  for (const { metric, expected, actual, score } of found.dimensions) {
    expect(actual / expected, metric).toBeGreaterThan(15)
    expect(actual / expected, metric).toBeLessThan(25)
    expect(score).toBeGreaterThan(4)
  }
  const { body } = await gateway.api('GET', `/api/observe/traces/${trace}`)
  expect(body.modules).toContainEqual(expect.objectContaining({ module: 'anomalyradar', verdict: 'outlier' }))
  expect(told).toEqual([{ type: 'anomaly.found', data: found }])
}, 60_000)

test('what was learned holds after a restart, at once', async () => {
  await gateway.close()
  gateway = await start()
  const trace = await call(20_000, { stream: true })
  await expect.poll(async () => (await list()).anomalies[0]?.sample_trace_ids).toEqual([trace])
})

test('a user is judged by the own calls, and sees nothing of those of others', async () => {
  const bob = await gateway.signUp('bob')
  await calls(60, { key: bob.key, model: 'gpt-4.1' })
  const trace = await call(30_000, { key: bob.key, model: 'gpt-4.1' })
  await expect.poll(async () => (await list('', bob.key)).total).toBe(1)
  const { anomalies } = await list('', bob.key)
  expect(anomalies[0].sample_trace_ids).toEqual([trace])
  expect(anomalies[0].dimensions.every(({ by }: { by: string }) => by === 'user')).toBe(true)
  expect((await list('', ada.key)).anomalies.some(({ id }: { id: string }) => id === anomalies[0].id)).toBe(
    false,
  )
})

test('a series that never changes raises nothing, and neither does a model of which little is known', async () => {
  const before = (await list()).total
  const eve = await gateway.signUp('eve')
  for (let n = 0; n < 60; n += 1) await call(700, { key: eve.key, model: 'gpt-4.1-mini' })
  for (let n = 0; n < 10; n += 1) await call(10 ** (n % 5), { key: gateway.adminKey, model: 'gpt-4.1-nano' })
  await call(900, { key: eve.key, model: 'gpt-4.1-mini' })
  expect((await list()).total).toBe(before)
})

test('the same again and again is counted on the last record', async () => {
  await calls(60, { key: gateway.adminKey, model: 'o3' })
  for (let n = 0; n < 7; n += 1) await call(100_000 * 3 ** n, { key: gateway.adminKey, model: 'o3' })
  await expect
    .poll(async () => {
      const { anomalies } = await list('model=o3')
      return anomalies.map(({ count }: { count: number }) => count)
    })
    .toEqual([3, 1, 1, 1, 1])
})

test('calls that the gateway makes, and a radar in shadow, raise nothing', async () => {
  await calls(60, { key: gateway.adminKey, model: 'o4-mini' })
  await gateway.module('anomalyradar', { mode: 'shadow' })
  const trace = await call(50_000, { key: gateway.adminKey, model: 'o4-mini' })
  await gateway.module('anomalyradar', { mode: 'enforce' })
  await call(90_000, { key: gateway.adminKey, model: 'o4-mini' })
  await expect.poll(async () => (await list('model=o4-mini')).total).toBe(1)
  expect((await list('model=o4-mini')).anomalies[0].sample_trace_ids).not.toContain(trace)
})

test('the data of a user goes when it is erased', async () => {
  const before = await gateway.api('GET', `/api/auth/users/${ada.userId}/data`)
  expect(JSON.stringify(before.body)).toContain('anomalyradar')
  await gateway.api('DELETE', `/api/auth/users/${ada.userId}/data`)
  const after = await gateway.api('GET', `/api/auth/users/${ada.userId}/data`)
  expect(JSON.stringify(after.body)).not.toContain('anomal')
  expect((await list(`user_id=${ada.userId}`)).total).toBe(0)
})

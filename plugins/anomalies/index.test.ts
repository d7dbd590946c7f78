import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Anomalies, type AnomalyDimension, type FoundAnomaly } from '../../contract/index.ts'
import { openLevel } from '../../storage/level.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { AnomalyStore } from './store.ts'

let gateway: TestGateway
let ada: { userId: string; key: string }
let bob: { userId: string; key: string }
const told: { type: string; data: { id: string } }[] = []

const base = '/api/observe/anomalies'

beforeAll(async () => {
  gateway = await startGateway()
  gateway.kernel.events.onAny((data, { type }) => {
    if (/^(anomaly|drift)\./.test(type.name)) told.push({ type: type.name, data: data as { id: string } })
  })
  ada = await gateway.signUp('ada')
  bob = await gateway.signUp('bob')
})

afterAll(() => gateway.close())

const figure = (by: AnomalyDimension['by'], metric = 'cost_usd'): AnomalyDimension => ({
  metric,
  by,
  expected: 0.01,
  actual: 0.2,
  score: 9,
  method: 'median/MAD',
})
const record = (found: Partial<FoundAnomaly> = {}): Promise<string> =>
  gateway.kernel.service(Anomalies)!.record({
    kind: 'call',
    severity: 'warning',
    scope: { provider: 'openai', model: 'gpt-4o', user: ada.userId, project: 'docs' },
    dimensions: [figure('model'), figure('user', 'tokens')],
    traces: ['tr_1'],
    ...found,
  })
const list = async (query = '', key = gateway.adminKey) =>
  gateway.api('GET', `${base}?${query}`, undefined, key)
const ids = async (query = '', key = gateway.adminKey): Promise<string[]> =>
  (await list(query, key)).body.anomalies.map(({ id }: { id: string }) => id)

test('an admin sees an anomaly with all its dimensions, and listeners get the same', async () => {
  const id = await record()
  const { status, body } = await gateway.api('GET', `${base}/${id}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    id,
    kind: 'call',
    metric: 'cost_usd',
    expected: 0.01,
    actual: 0.2,
    z_score: 9,
    scope: { model: 'gpt-4o', provider: 'openai', user: ada.userId, project: 'docs', template: null },
    message: 'cost_usd is $0.2 where $0.01 is usual for openai/gpt-4o. So it is for tokens.',
    count: 1,
    sample_trace_ids: ['tr_1'],
    acknowledged_at: null,
  })
  expect((await list()).body.anomalies).toContainEqual(body)
  await expect.poll(() => told).toContainEqual({ type: 'anomaly.found', data: body })
})

test('its user sees what is unusual beside the own calls, and other users nothing', async () => {
  const id = await record()
  const { body } = await gateway.api('GET', `${base}/${id}`, undefined, ada.key)
  expect(body.dimensions).toEqual([figure('user', 'tokens')])
  expect(body.metric).toBe('tokens')
  expect(JSON.stringify(body)).not.toContain('cost_usd')
  expect((await list('', ada.key)).body.anomalies).toContainEqual(body)
  expect((await gateway.api('GET', `${base}/${id}`, undefined, bob.key)).status).toBe(404)
  expect(await ids('', bob.key)).toEqual([])
  expect((await list(`user_id=${ada.userId}`, bob.key)).status).toBe(403)

  const ofModel = await record({ dimensions: [figure('model')] })
  expect((await gateway.api('GET', `${base}/${ofModel}`, undefined, ada.key)).status).toBe(404)
  expect(await ids('', ada.key)).not.toContain(ofModel)
  for (const [method, at] of [
    ['POST', `${base}/${id}/acknowledge`],
    ['DELETE', `${base}/${id}`],
  ] as const)
    expect((await gateway.api(method, at, undefined, ada.key)).status).toBe(403)
})

test('every filter alone and all together find what they name, newest first', async () => {
  const scope = { provider: 'azure', model: 'o3', user: bob.userId, template: 'summary' }
  const dimensions = [{ ...figure('template', 'answer_length'), method: 'PSI' }] as const
  const drift = await record({ kind: 'drift', severity: 'critical', scope, dimensions })
  const rate = await record({ kind: 'rate', severity: 'info', scope: { provider: 'azure', model: 'o3' } })
  await gateway.api('POST', `${base}/${drift}/acknowledge`)
  const own = { kind: 'drift', severity: 'critical', acknowledged: 'true', user_id: bob.userId }
  for (const [name, value] of Object.entries(own)) expect(await ids(`${name}=${value}`)).toEqual([drift])
  expect(await ids('model=o3')).toEqual([rate, drift])
  expect(await ids(`model=o3&${new URLSearchParams(own)}`)).toEqual([drift])
  expect(await ids(`model=o3&acknowledged=false`)).toEqual([rate])
  const { body } = await gateway.api('GET', `${base}/${drift}`)
  const later = new Date(Date.parse(body.detected_at) + 1).toISOString()
  expect(await ids(`kind=drift&from=${body.detected_at}`)).toEqual([drift])
  expect(await ids(`kind=drift&from=${later}`)).toEqual([])
  expect(await ids(`kind=drift&to=${body.detected_at}`)).toEqual([])
  const { body: page } = await list('model=o3&limit=1')
  expect(page).toMatchObject({ total: 2, has_more: true })
  expect(await ids(`model=o3&limit=1&cursor=${page.next_cursor}`)).toEqual([drift])
  await expect.poll(() => told.map(({ type }) => type)).toContain('drift.detected')
})

test('the first time that somebody saw it counts, and what is deleted is gone', async () => {
  const id = await record()
  const first = (await gateway.api('POST', `${base}/${id}/acknowledge`)).body.acknowledged_at
  expect(Date.parse(first)).toBeGreaterThan(0)
  expect((await gateway.api('POST', `${base}/${id}/acknowledge`)).body.acknowledged_at).toBe(first)
  expect((await gateway.api('DELETE', `${base}/${id}`)).body).toEqual({ deleted: true, id })
  for (const [method, at] of [
    ['GET', `${base}/${id}`],
    ['POST', `${base}/${id}/acknowledge`],
    ['DELETE', `${base}/${id}`],
  ] as const)
    expect((await gateway.api(method, at)).status).toBe(404)
})

test('what is found again is counted, with ten traces at the most', async () => {
  const id = await record()
  const anomalies = gateway.kernel.service(Anomalies)!
  await anomalies.repeat(
    id,
    40,
    Array.from({ length: 12 }, (_, n) => `tr_more_${n}`),
  )
  const { body } = await gateway.api('GET', `${base}/${id}`)
  expect(body.count).toBe(41)
  expect(body.sample_trace_ids).toHaveLength(10)
  await anomalies.repeat('an_none', 1, [])
  expect((await gateway.api('GET', `${base}/an_none`)).status).toBe(404)
})

test.each([
  ['kind=odd', 'kind'],
  ['acknowledged=maybe', 'acknowledged'],
  ['from=yesterday', 'from'],
  ['colour=red', 'colour'],
  ['cursor=none', 'cursor'],
])('a query with %s is refused', async (query, param) => {
  const { status, body } = await list(query)
  expect([status, body.error.code]).toEqual([400, 'bad_request'])
  expect(body.error.message).toContain(param)
})

test('a person’s anomalies are counted, and erased', async () => {
  await record({ scope: { model: 'gpt-4o', user: bob.userId }, dimensions: [figure('user')] })
  const data = async () =>
    JSON.stringify((await gateway.api('GET', `/api/auth/users/${bob.userId}/data`)).body)
  expect(await data()).toContain('anomalies')
  await gateway.api('DELETE', `/api/auth/users/${bob.userId}/data`)
  expect(await data()).not.toContain('anomalies')
  expect(await ids(`user_id=${bob.userId}`)).toEqual([])
})

test('what is too old goes, and of too many the oldest', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-anomalies-'))
  const engine = await openLevel(folder)
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const store = engine.namespace('anomalies')
    const anomalies = new AnomalyStore({ store, emit: () => {} }, 3)
    const found: FoundAnomaly = {
      kind: 'rate',
      severity: 'info',
      scope: {},
      dimensions: [figure('model')],
      traces: [],
    }
    const made: string[] = []
    for (let n = 0; n < 5; n += 1) {
      vi.setSystemTime(Date.now() + 86_400_000)
      made.push(await anomalies.record(found))
    }
    const left = async () => (await anomalies.list({}, {}, {})).items.map(({ id }) => id)
    await anomalies.prune(90)
    expect(await left()).toEqual([made[4], made[3], made[2]])
    await anomalies.prune(1.5)
    expect(await left()).toEqual([made[4], made[3]])
  } finally {
    vi.useRealTimers()
    await engine.close()
    await rm(folder, { recursive: true, force: true })
  }
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Script, startUpstream, type Upstream } from '../../test/upstream/index.ts'

let folder: string
let upstream: Upstream
let gateway: TestGateway
const told: Record<string, unknown>[] = []

const base = '/api/modules/driftwatch/baselines'

const start = async (): Promise<TestGateway> => {
  const gateway = await startGateway({ upstream, dataDir: path.join(folder, 'data') })
  gateway.kernel.events.onAny((data, { type }) => {
    if (type.name === 'drift.detected') told.push(data as Record<string, unknown>)
  })
  return gateway
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-drift-'))
  upstream = await startUpstream()
  gateway = await start()
  // It repairs what is no JSON.
  await gateway.module('structuredshield', { enabled: false })
  await use(['answer_length', 'refusal_rate', 'json_validity', 'language'])
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

beforeEach(() => {
  told.length = 0
  upstream.reset()
})

const use = (metrics: string[]) =>
  gateway.module('driftwatch', { enabled: true, config: { metrics, baseline_calls: 60, window_calls: 50 } })

const word = 'The harbour is quiet this morning. '
/** One to five sentences, in an order that says nothing. */
const ordinary = (n: number): Script => ({ content: word.repeat(1 + ((n * 7) % 5)) })
const messages = [{ role: 'user', content: 'Hello, also as JSON' }]

/** Makes so many calls, ten at a time. */
async function calls(
  count: number,
  model: string,
  answer: (n: number) => Script,
  more: object = {},
): Promise<void> {
  for (let from = 0; from < count; from += 10) {
    const some = Array.from({ length: 10 }, (_, n) => upstream.reply({ model }, answer(from + n)))
    const answers = await Promise.all(some.map(() => ask(gateway, { body: { model, messages, ...more } })))
    for (const { status, body } of answers) expect([status, body.error]).toEqual([200, undefined])
  }
}
const baselineOf = async (model: string) =>
  (await gateway.api('GET', `${base}?limit=500`)).body.baselines.find(
    (one: { model: string }) => one.model === model,
  )
const anomalies = async () => (await gateway.api('GET', '/api/observe/anomalies?kind=drift')).body

test.each([
  ['plain', 'gpt-4o', {}],
  ['streamed', 'gpt-4.1', { stream: true }],
])('answers that become longer are one drift, which names the metric (%s)', async (_, model, more) => {
  await calls(60 + 3 * 50, model, ordinary, more)
  expect(
    (await anomalies()).anomalies.filter(({ scope }: { scope: { model: string } }) => scope.model === model),
  ).toEqual([])
  await calls(2 * 50 + 60 + 50, model, (n) => ({ content: word.repeat(6 + (n % 5)) }), more)
  await expect.poll(() => told).toHaveLength(1)
  expect(told[0]).toMatchObject({
    kind: 'drift',
    metric: 'answer_length',
    method: 'PSI',
    scope: { model, provider: 'openai', template: null, user: null },
    dimensions: [{ metric: 'answer_length', by: 'model' }],
  })
  expect((await anomalies()).anomalies[0]).toEqual(told[0])
})

test('refusals, invalid JSON and another language are drifts, too', async () => {
  const changes: readonly [string, string, string, object][] = [
    ['refusal_rate', 'o3', "I'm sorry, but I can't help with that.", {}],
    ['json_validity', 'o3-mini', '{"a": 1', { response_format: { type: 'json_object' } }],
    ['language', 'o4-mini', 'Der Hafen ist heute Morgen ganz still, und niemand ist da.', {}],
  ]
  for (const [metric, model, changed, more] of changes) {
    const before = metric === 'json_validity' ? '{"a": 1}' : word
    await use([metric])
    await calls(60, model, () => ({ content: before }), more)
    await calls(100, model, () => ({ content: changed }), more)
    await expect.poll(() => told.map(({ metric }) => metric)).toContain(metric)
  }
  expect(told).toHaveLength(3)
  await use(['answer_length'])
})

test('a baseline outlives a restart; an admin pins it, and has it learned anew', async () => {
  const model = 'gpt-4.1-mini'
  await calls(60, model, ordinary)
  await gateway.close()
  gateway = await start()
  const learned = await baselineOf(model)
  expect(learned).toMatchObject({ status: 'watching', pinned: false, calls: 60, windows: 0, template: null })
  const at = `${base}/${learned.id}`
  expect((await gateway.api('PUT', at, { pinned: true })).body).toMatchObject({ pinned: true })
  await calls(150, model, () => ({ content: word.repeat(9) }))
  await expect.poll(() => told).toHaveLength(1)
  const { body: drifted } = await gateway.api('GET', at)
  expect(drifted).toMatchObject({ status: 'drifted', windows: 3 })
  expect(drifted.metrics).toEqual([
    expect.objectContaining({ metric: 'answer_length', last: 9 * word.length, over: true }),
  ])
  const { body } = await gateway.api('POST', `${at}/reset`)
  expect(body).toMatchObject({ status: 'learning', pinned: true, windows: 0, taken: 0, metrics: [] })
})

test('users have no business here, and what is not there is not found', async () => {
  const { key } = await gateway.signUp('ada')
  expect((await gateway.api('GET', base, undefined, key)).status).toBe(403)
  expect((await gateway.api('GET', `${base}/bl_none`)).status).toBe(404)
  expect((await gateway.api('POST', `${base}/bl_none/reset`)).status).toBe(404)
  expect((await gateway.api('PUT', `${base}/bl_none`, { pinned: true })).status).toBe(404)
  const { body } = await gateway.api('PUT', `${base}/bl_none`, { pinned: 'yes' })
  expect(body.error.code).toBe('bad_request')
})

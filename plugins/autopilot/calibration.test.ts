import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openLevel } from '../../storage/level.ts'
import { askedTwice } from '../../test/asked-twice.ts'
import { writeDropins } from '../../test/dropins.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { questionOf, simulate, simulationConfig } from '../../test/simulated-models.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { answerRow } from './calibration/rows.ts'

let upstream: Upstream
let gateway: TestGateway
let remove: () => Promise<void>
let ada: { userId: string; key: string }

const calls = 24
const usual = {
  ...{ enabled: true, reference_model: 'sim-reference', candidate_models: ['sim-good', 'sim-wrong'] },
  ...{ judge: { model: 'sim-judge' }, max_cost_usd: 1 },
}

beforeAll(async () => {
  upstream = await startUpstream()
  const dropins = await writeDropins({ askedtwice: askedTwice })
  remove = dropins.remove
  gateway = await startGateway({ config: { ...simulationConfig(upstream), plugin_dirs: [dropins.folder] } })
  ada = await gateway.signUp('calibration-ada')
  simulate(upstream)
  for (let n = 0; n < calls; n += 1) await ask(n)
  const traces = async () => (await gateway.api('GET', '/api/observe/traces?limit=1')).body.total
  await vi.waitUntil(async () => (await traces()) === calls, { timeout: 10_000 })
}, 60_000)

beforeEach(async () => {
  upstream.reset()
  simulate(upstream)
  expect((await put({ ...usual, content: { projects: ['lab'] } })).status).toBe(200)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await remove()
})

const put = (change: object) => gateway.api('PUT', '/api/autopilot', change)
const calibrate = (fields: object = {}) =>
  gateway.api('POST', '/api/autopilot/calibrate', { wait_ms: 60_000, ...fields })
const log = async (id: string) =>
  (await gateway.api('GET', `/api/autopilot/calibration-log?limit=500&calibration_id=${id}`)).body
const models = () => upstream.requests.map(({ body }) => (body as { model: string }).model)

async function ask(n: number, project = 'lab'): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json', 'x-project': project },
    body: JSON.stringify({ model: 'sim-reference', messages: [{ role: 'user', content: questionOf(n) }] }),
  })
  await response.text()
}

describe('a calibration', () => {
  test.each([
    [{ reference_model: null, enabled: false }, {}, 'reference_model'],
    [{ candidate_models: null }, {}, 'candidates'],
    [{ judge: null }, {}, 'judge.model'],
    [{ max_cost_usd: null }, {}, 'max_cost_usd'],
    [{ content: null }, {}, 'content'],
    [{}, { candidates: ['sim-judge'] }, 'candidates'],
    [{}, { sample_size: 0 }, 'sample_size'],
    [{}, { trace_filter: { model: 'a' } }, 'trace_filter'],
  ])('is refused with the field that is missing: %j %j', async (change, fields, param) => {
    await put(change)
    const { status, body } = await calibrate(fields)
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(param)])
    expect(upstream.requests).toHaveLength(0)
  })

  test('of calls that nobody has allowed is refused, and a dry run asks nobody', async () => {
    await put({ content: { users: ['usr_other'] } })
    expect((await calibrate()).status).toBe(422)
    await put({ content: { users: [ada.userId] } })
    const { status, body } = await calibrate({ dry_run: true, sample_size: 9 })
    expect([status, body.status, body.traces_used]).toEqual([200, 'planned', 9])
    expect((await calibrate({ dry_run: true, trace_filter: { project: 'other' } })).status).toBe(422)
    expect(upstream.requests).toHaveLength(0)
  })

  test('gives half a hit where the judge prefers the answer that comes first', async () => {
    upstream.reset()
    simulate(upstream, { marking: () => ({ a: 1, b: 0 }) })
    const { body } = await calibrate({ candidates: ['sim-good'] })
    expect(body.scores['sim-good']).toMatchObject({ quality_score: 0.5, qualifies: false })
    const { body: optimize } = await gateway.api('GET', '/api/optimize')
    expect(optimize.models_calibrated).toBe(
      Object.keys((await gateway.api('GET', '/api/autopilot')).body.scores).length,
    )
    expect(optimize.models_calibrated).toBeGreaterThan(0)
  })

  test('takes answers without marks for none, and calls that no judge has seen for no sample', async () => {
    upstream.reset()
    upstream.reply({ model: 'sim-judge' }, { content: 'Both are fine.', times: Number.POSITIVE_INFINITY })
    simulate(upstream)
    const { body } = await calibrate({ candidates: ['sim-good'], sample_size: 5 })
    expect(body.scores['sim-good']).toMatchObject({ quality_score: null, samples: 0, qualifies: false })
    expect((await log(body.calibration_id)).log[0]).toMatchObject({ status: 'unscored', score: null })
  })

  test('goes by no cost of a call of which an attempt has no price', async () => {
    for (let n = 0; n < 3; n += 1) await ask(n, 'odd')
    const listed = async () => (await gateway.api('GET', '/api/observe/traces?project=odd')).body.traces
    await expect.poll(async () => (await listed()).length).toBe(3)
    for (const { cost } of await listed()) expect(cost).toMatchObject({ unpriced: 1 })
    await put({ content: { projects: ['odd', 'lab'] } })
    const costOf = async (project: string) => {
      const { body } = await calibrate({ candidates: ['sim-good'], trace_filter: { project } })
      expect(body.traces_used).toBeGreaterThan(0)
      const { body: scores } = await gateway.api('GET', '/api/autopilot/scores')
      const items: { model: string; avg_cost_usd: number | null }[] = scores.scores
      return ['sim-reference', 'sim-good'].map(
        (name) => items.find(({ model }) => model === name)!.avg_cost_usd,
      )
    }
    expect(await costOf('odd')).toEqual([null, expect.any(Number)])
    expect(await costOf('lab')).toEqual([expect.any(Number), expect.any(Number)])
  })

  test('never spends more than its limit, whatever runs at a time', async () => {
    const { body: whole } = await calibrate()
    for (const share of [0.1, 0.35, 0.7]) {
      const max_cost_usd = whole.cost_usd * share
      const { body } = await calibrate({ max_cost_usd })
      expect(body).toMatchObject({ status: 'completed', out_of_money: true })
      expect(body.cost_usd).toBeLessThanOrEqual(max_cost_usd)
    }
    upstream.reset()
    simulate(upstream)
    const { body: nothing } = await calibrate({ max_cost_usd: 0.000001 })
    expect(nothing).toMatchObject({ out_of_money: true, cost_usd: 0, models_scored: 0 })
    expect(upstream.requests).toHaveLength(0)
    // What was found before stays.
    expect((await gateway.api('GET', '/api/autopilot')).body.models_scored).toBe(3)
  }, 60_000)

  test('whose job an admin cancels is cancelled, and lets the next one begin', async () => {
    upstream.reset()
    simulate(upstream, { script: () => ({ hang: true }) })
    const { body } = await calibrate({ wait_ms: 0 })
    const id = body.calibration_id
    await upstream.received(1)
    await gateway.api('POST', `/api/jobs/${encodeURIComponent(`autopilot.calibrate:${id}`)}/cancel`)
    const at = `/api/autopilot/calibrations/${id}`
    await expect.poll(async () => (await gateway.api('GET', at)).body.status).toBe('cancelled')
    upstream.reset()
    simulate(upstream)
    expect((await calibrate({ candidates: ['sim-wrong'], sample_size: 3 })).body.status).toBe('completed')
  })

  test('that is cancelled asks no more, counts for nothing, and lets the next one begin', async () => {
    const before = (await gateway.api('GET', '/api/autopilot/scores')).body.scores
    const gate = Promise.withResolvers<void>()
    upstream.reset()
    simulate(upstream, {
      script: (_, n) => (n < calls / 2 ? { content: 'It is', gate: { opened: gate.promise } } : undefined),
    })
    const { status, body } = await calibrate({ wait_ms: 0 })
    expect([status, body.status]).toEqual([202, 'running'])
    expect((await calibrate()).status).toBe(409)
    const at = `/api/autopilot/calibrations/${body.calibration_id}`
    const made = async () => (await log(body.calibration_id)).total
    await expect.poll(made).toBeGreaterThan(0)
    const cancelled = await gateway.api('POST', `${at}/cancel`)
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled'])
    expect((await gateway.api('POST', `${at}/cancel`)).status).toBe(409)
    gate.resolve()
    upstream.reset()
    simulate(upstream)
    expect((await calibrate({ candidates: ['sim-wrong'], sample_size: 3 })).body.status).toBe('completed')
    // Three answers of one model, and two questions to the judge for each: nothing of the other one.
    expect(models().filter((model) => model === 'sim-good')).toEqual([])
    expect(upstream.requests).toHaveLength(9)
    const { body: after } = await gateway.api('GET', '/api/autopilot/scores')
    // biome-ignore lint/suspicious/noExplicitAny: scores of an answer
    const good = (scores: any[]) => scores.find(({ model }) => model === 'sim-good')
    expect(good(after.scores)).toEqual(good(before))
    expect((await gateway.api('GET', at)).body).toMatchObject({ status: 'cancelled', scores: {} })
  }, 60_000)

  test('keeps the beginnings of answers sealed where bodies of traces are', async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-autopilot-'))
    const sealed = await startGateway({ dataDir, config: simulationConfig(upstream) })
    try {
      await sealed.module('encryptvault', { enabled: true })
      const eve = await sealed.signUp('calibration-eve')
      const messages = [{ role: 'user', content: questionOf(41) }]
      const call = { model: 'sim-reference', messages }
      expect((await sealed.api('POST', '/v1/chat/completions', call, eve.key)).status).toBe(200)
      await expect.poll(async () => (await sealed.api('GET', '/api/observe/traces')).body.total).toBe(1)
      await sealed.api('PUT', '/api/autopilot', { ...usual, content: { users: [eve.userId] } })
      const { body } = await sealed.api('POST', '/api/autopilot/calibrate', { wait_ms: 60_000 })
      expect(body.traces_used).toBe(1)
      const { body: shown } = await sealed.api('GET', '/api/autopilot/calibration-log')
      expect(shown.log[0].candidate_preview).toContain('It is 8')
    } finally {
      await sealed.close()
    }
    const engine = await openLevel(path.join(dataDir, 'db'))
    const answers = engine
      .namespace('plugins')
      .namespace('autopilot')
      .collection('answers', { schema: answerRow })
    const { items } = await answers.list()
    await engine.close()
    await rm(dataDir, { recursive: true, force: true })
    expect(items).toHaveLength(2)
    for (const { previews } of items) expect(previews).toMatch(/^sealed:/)
  })

  test('asks models and the judge in calls that go with the data of the user whose call they repeat', async () => {
    const bob = await gateway.signUp('calibration-bob')
    const messages = [{ role: 'user', content: questionOf(51) }]
    const call = { model: 'sim-reference', messages }
    const asked = await gateway.api('POST', '/v1/chat/completions', call, bob.key)
    const id = asked.headers.get('x-trace-id')
    const at = `/api/auth/users/${bob.userId}/data`
    const kept = async () => (await gateway.api('GET', at)).body.kept
    await expect.poll(kept).toMatchObject({ observe: 1 })
    await put({ content: { users: [bob.userId] } })
    const { body } = await calibrate()
    expect(body).toMatchObject({ status: 'completed', traces_used: 1 })
    const repeats = async () => {
      const found = (await gateway.api('GET', '/api/observe/traces?source=calibration&limit=500')).body.traces
      return found.filter(({ parent_id }: { parent_id: string }) => parent_id === id).length
    }
    // Two models, and a judge in both orders for each.
    await expect.poll(repeats).toBe(6)
    expect(await kept()).toMatchObject({ observe: 7 })
    expect((await gateway.api('DELETE', at)).status).toBe(200)
    expect(await repeats()).toBe(0)
    expect(Object.keys(await kept())).not.toContain('observe')
    expect((await log(body.calibration_id)).log[0]).toMatchObject({ candidate_preview: null })
  })

  test('leaves nothing of a user whose data is erased but figures', async () => {
    const { body } = await calibrate({ candidates: ['sim-good'], sample_size: 2 })
    const before = await log(body.calibration_id)
    expect(before.log[0].candidate_preview).toContain('It is')
    expect((await gateway.api('DELETE', `/api/auth/users/${ada.userId}`)).status).toBe(200)
    await expect.poll(async () => (await log(body.calibration_id)).log[0].candidate_preview).toBe(null)
    const after = await log(body.calibration_id)
    expect(after.log[0]).toMatchObject({ score: 1, reference_preview: null })
    expect(after.total).toBe(before.total)
  })
})

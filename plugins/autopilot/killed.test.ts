import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { adminKey } from '../../test/harness.ts'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { questionOf, simulate, simulationConfig } from '../../test/simulated-models.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let folder: string
let upstream: Upstream
let gateway: GatewayProcess

const calls = 24

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-autopilot-'))
  upstream = await startUpstream()
  simulate(upstream)
  const autopilot = {
    ...{ enabled: true, reference_model: 'sim-reference', candidate_models: ['sim-good', 'sim-wrong'] },
    ...{ judge: { model: 'sim-judge' }, max_cost_usd: 1, content: { projects: ['default'] } },
  }
  const settings = {
    ...simulationConfig(upstream),
    ...{ admin_key: adminKey, server: { threads: 2 }, auth: { admin_rpm: 100_000 }, autopilot },
    modules: { retrypilot: { enabled: false } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  gateway = await startProcess({}, folder)
}, 60_000)

afterAll(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

/** On a connection of its own: the system gives it to any of the threads. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
function send(method: string, at: string, body?: object): Promise<{ status: number; body: any }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const asked = request(gateway.url + at, { method, headers, agent: new Agent() }, async (response) => {
      resolve({ status: response.statusCode!, body: JSON.parse((await response.toArray()).join('')) })
    })
    asked.on('error', reject)
    asked.end(body && JSON.stringify(body))
  })
}

const ask = async (n: number) => {
  const messages = [{ role: 'user', content: questionOf(n) }]
  return (await send('POST', '/v1/chat/completions', { model: 'autopilot', messages })).body.model
}
interface Entry {
  readonly model: string
  readonly status: string
  readonly cost_usd: number
}
const log = async (): Promise<Entry[]> =>
  (await send('GET', '/api/autopilot/calibration-log?limit=500')).body.log
const asked = (model: string) =>
  upstream.requests.filter(({ body }) => (body as { model: string }).model === model).length

test('a calibration that a kill cuts off goes on after it, asks for nothing twice that was scored, and forgets no money', async () => {
  const first = { model: 'sim-reference', messages: [{ role: 'user', content: questionOf(0) }] }
  expect((await send('POST', '/v1/chat/completions', first)).status).toBe(200)
  for (let n = 1; n < calls; n += 1)
    await send('POST', '/v1/chat/completions', {
      ...first,
      messages: [{ role: 'user', content: questionOf(n) }],
    })
  const traces = async () => (await send('GET', '/api/observe/traces?limit=1')).body.total
  await vi.waitUntil(async () => (await traces()) === calls, { timeout: 20_000 })

  // Three answers hang until the kill, one for each call that is repeated at a time.
  const hanging = new Set([7, 15, 23])
  upstream.reset()
  simulate(upstream, {
    script: (model, n) => (model === 'sim-good' && hanging.has(n) ? { hang: true } : undefined),
  })
  const { status, body } = await send('POST', '/api/autopilot/calibrate', { wait_ms: 0 })
  expect(status).toBe(202)
  const isHanging = ({ body }: { body: unknown }): boolean =>
    (body as { model: string }).model === 'sim-good' &&
    [...hanging].some((n) => JSON.stringify(body).includes(questionOf(n)))
  await expect.poll(() => upstream.requests.filter(isHanging).length, { timeout: 20_000 }).toBe(3)
  const of = async (wanted: string) => (await log()).filter(({ status }) => status === wanted)
  await expect.poll(async () => (await of('asked')).length, { timeout: 20_000 }).toBe(3)
  const done = await of('scored')
  const at = `/api/autopilot/calibrations/${body.calibration_id}`
  const before = (await send('GET', at)).body
  await gateway.end('SIGKILL')

  upstream.reset()
  simulate(upstream)
  gateway = await startProcess({}, folder)
  const state = async () => (await send('GET', at)).body.status
  await expect.poll(state, { timeout: 60_000 }).toBe('completed')
  const { body: after } = await send('GET', at)
  expect(after).toMatchObject({
    traces_used: calls,
    models_scored: 2,
    scores: { 'sim-good': { samples: calls } },
  })
  for (const name of ['sim-good', 'sim-wrong'])
    expect(asked(name)).toBe(calls - done.filter(({ model }) => model === name).length)
  // What was under way at the kill may have been paid for, and counts as spent.
  const paid = (await log()).reduce((sum, { cost_usd }) => sum + cost_usd, 0)
  expect(after.cost_usd).toBeGreaterThan(paid)
  expect(after.cost_usd).toBeGreaterThan(before.cost_usd)
  expect(after.cost_usd).toBeLessThan(1)
}, 180_000)

test('all threads route by the scores of now, and their decisions add up', async () => {
  await send('PUT', '/api/autopilot', { quality_threshold: 0.8 })
  const routed = async () => new Set(await Promise.all(Array.from({ length: 20 }, (_, n) => ask(n))))
  await expect.poll(routed, { timeout: 20_000 }).toEqual(new Set(['sim-good']))
  await send('PUT', '/api/autopilot', { quality_threshold: 0.99 })
  await expect.poll(routed, { timeout: 20_000 }).toEqual(new Set(['sim-reference']))
  const stats = async () => {
    const { body } = await send('GET', '/api/autopilot/stats')
    const { body: list } = await send('GET', '/api/autopilot/decisions?limit=1')
    return [body.total_decisions, list.total]
  }
  await expect.poll(async () => new Set(await stats()).size).toBe(1)
  const before = await stats()
  await gateway.end('SIGTERM')
  gateway = await startProcess({}, folder)
  expect(await stats()).toEqual(before)
  expect((await send('GET', '/api/autopilot')).body).toMatchObject({
    models_scored: 3,
    config: { quality_threshold: 0.99 },
  })
}, 120_000)

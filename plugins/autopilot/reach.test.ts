import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { questionOf, simulate, simulationConfig } from '../../test/simulated-models.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let ada: { userId: string; key: string }

const calls = 8

/** Besides `sim`, another provider with one of its models; groq has no key. */
beforeAll(async () => {
  upstream = await startUpstream()
  simulate(upstream)
  const known = simulationConfig(upstream)
  const facts = (from: Record<string, unknown>) => ({ ...from, 'far/sim-plain': from['sim/sim-plain'] })
  const config = {
    ...{ models: facts(known.models), prices: facts(known.prices) },
    providers: {
      ...known.providers,
      far: { type: 'openai', base_url: upstream.baseUrl(), api_key: 'sk-test', models: ['far-*'] },
    },
  }
  gateway = await startGateway({ config })
  ada = await gateway.signUp('reach-ada')
  for (let n = 0; n < calls; n += 1) await ask({ model: 'sim-reference' }, n)
  const traces = async () => (await gateway.api('GET', '/api/observe/traces?limit=1')).body.total
  await vi.waitUntil(async () => (await traces()) === calls, { timeout: 10_000 })
  const { body } = await put({
    ...{ enabled: true, reference_model: 'sim-reference', quality_threshold: 0.5 },
    ...{
      candidate_models: ['far/sim-plain', 'sim-good', 'groq/llama-3.3-70b-versatile'],
      judge: { model: 'sim-judge' },
    },
    ...{ max_cost_usd: 1, content: { users: [ada.userId] } },
  })
  expect(body.state).toBe('uncalibrated')
  await gateway.api('POST', '/api/autopilot/calibrate', { wait_ms: 60_000 })
}, 60_000)

beforeEach(async () => {
  upstream.reset()
  simulate(upstream)
  await put({ content: { users: [ada.userId] } })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const put = (change: object) => gateway.api('PUT', '/api/autopilot', change)

async function ask(fields: object, n = 1, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ messages: [{ role: 'user', content: questionOf(n) }], ...fields }),
  })
  await response.clone().text()
  return response
}

const routed = async (fields: object, headers?: Record<string, string>): Promise<string | null> =>
  (await ask(fields, 1, headers)).headers.get('x-autopilot-model')

describe('a model without a provider that has a key', () => {
  test('is not asked in calibrations, and gets no calls', async () => {
    const { body } = await gateway.api('GET', '/api/autopilot/calibration-log?limit=500')
    // biome-ignore lint/suspicious/noExplicitAny: items of a list
    const keyless = body.log.filter(({ model }: any) => model === 'groq/llama-3.3-70b-versatile')
    expect(keyless).toHaveLength(calls)
    expect(keyless[0]).toMatchObject({
      status: 'unsupported',
      error: expect.stringContaining('key'),
      score: null,
    })
    expect(Object.keys((await gateway.api('GET', '/api/autopilot')).body.scores).sort()).toEqual([
      ...['far/sim-plain', 'sim-good', 'sim-reference'],
    ])
  })
})

describe('contents', () => {
  test('go to another provider for callers that an admin has listed, or that ask for autopilot', async () => {
    expect(await routed({ model: 'sim-reference' })).toBe('far/sim-plain')
    await put({ content: { users: ['usr_other'], projects: ['docs'] } })
    expect(await routed({ model: 'sim-reference' })).toBe('sim-good')
    expect(await routed({ model: 'sim-reference' }, { 'x-project': 'docs' })).toBe('far/sim-plain')
    expect(await routed({ model: 'auto' })).toBe('far/sim-plain')
  })
})

describe('a stream', () => {
  test('comes from the reference model when the chosen one fails', async () => {
    upstream.reset()
    simulate(upstream, { script: (model) => (model === 'sim-plain' ? { status: 503 } : undefined) })
    const response = await ask({ model: 'auto', stream: true }, 4)
    expect([response.status, response.headers.get('x-autopilot-model')]).toEqual([200, 'sim-reference'])
    expect(await response.text()).toContain('[DONE]')
    expect(upstream.last().body).toMatchObject({ model: 'sim-reference', stream: true })
  })

  test('that the provider refuses for the request’s own fault is not asked for twice', async () => {
    upstream.reset()
    simulate(upstream, { script: (model) => (model === 'sim-plain' ? { status: 400 } : undefined) })
    expect((await ask({ model: 'auto', stream: true }, 4)).status).toBe(400)
    expect(upstream.requests).toHaveLength(1)
  })
})

test('a call that is not made is explained with the model that it would go to', async () => {
  const messages = [{ role: 'user', content: questionOf(1) }]
  const { status, body } = await gateway.api('POST', '/api/proxy/chain/explain', {
    request: { model: 'auto', messages },
  })
  expect(status).toBe(200)
  expect(JSON.stringify(body)).toContain('far/sim-plain')
  expect(upstream.requests).toHaveLength(0)
})

test('a model that is suspended is calibrated again at once where that is asked for', async () => {
  const ids = async () => {
    const { body } = await gateway.api('GET', '/api/autopilot/calibration-log?limit=500')
    return new Set(body.log.map(({ calibration_id }: { calibration_id: string }) => calibration_id)).size
  }
  const before = await ids()
  await put({ auto_recalibrate: { on_drift: true } })
  upstream.reset()
  let isDown = true
  upstream.reply(({ body }) => isDown && (body as { model: string }).model === 'sim-plain', {
    status: 503,
    times: Number.POSITIVE_INFINITY,
  })
  simulate(upstream)
  for (let n = 0; n < 50 && (await routed({ model: 'auto' })) !== 'sim-good'; n += 1);
  isDown = false
  await expect.poll(ids, { timeout: 20_000 }).toBe(before + 1)
  const { body } = await gateway.api('GET', '/api/autopilot/calibration-log?limit=1')
  expect(body.log[0].model).toBe('far/sim-plain')
}, 60_000)

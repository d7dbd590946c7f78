import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { askedTwice } from '../../test/asked-twice.ts'
import { writeDropins } from '../../test/dropins.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { candidates, questionOf, simulate, simulationConfig } from '../../test/simulated-models.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let remove: () => Promise<void>
let ada: { userId: string; key: string }
let bob: { userId: string; key: string }
// biome-ignore lint/suspicious/noExplicitAny: the body of an answer
let calibrated: any

const calls = 40

beforeAll(async () => {
  upstream = await startUpstream()
  const dropins = await writeDropins({ askedtwice: askedTwice })
  remove = dropins.remove
  gateway = await startGateway({ config: { ...simulationConfig(upstream), plugin_dirs: [dropins.folder] } })
  ada = await gateway.signUp('simulation-ada')
  bob = await gateway.signUp('simulation-bob')
  simulate(upstream)
  for (let n = 0; n < calls; n += 1) await ask(n, { model: 'sim-reference', stream: n % 3 === 0 })
  await ask(99, { model: 'sim-reference' }, bob.key)
  const traces = async () => (await gateway.api('GET', '/api/observe/traces?limit=1')).body.total
  await vi.waitUntil(async () => (await traces()) === calls + 1, { timeout: 10_000 })
  const set = await put({
    ...{ enabled: true, reference_model: 'sim-reference', candidate_models: candidates },
    ...{ judge: { model: 'sim-judge' }, max_cost_usd: 1, content: { users: [ada.userId] } },
  })
  expect(set.status).toBe(200)
  calibrated = await gateway.api('POST', '/api/autopilot/calibrate', { wait_ms: 60_000 })
}, 60_000)

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await remove()
})

const put = (change: object) => gateway.api('PUT', '/api/autopilot', change)

const post = (body: object, key = ada.key, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

async function ask(n: number, fields: object = {}, key = ada.key): Promise<Response> {
  const messages = [{ role: 'user', content: questionOf(n) }]
  const response = await post({ model: 'autopilot', messages, max_tokens: 400, ...fields }, key)
  await response.clone().text()
  return response
}

/** The model that answers a call of this form. */
const routed = async (fields: object, key?: string): Promise<string | null> =>
  (await ask(1, fields, key)).headers.get('x-autopilot-model')

const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }

describe('a calibration of models whose quality is known', () => {
  test('scores each by what it answers, and not by how much', () => {
    expect(calibrated.status).toBe(200)
    const { body } = calibrated
    expect(body).toMatchObject({
      status: 'completed',
      traces_used: calls,
      models_scored: 6,
      out_of_money: false,
    })
    const quality = Object.fromEntries(
      // biome-ignore lint/suspicious/noExplicitAny: scores of an answer
      Object.entries<any>(body.scores).map(([model, { quality_score }]) => [model, quality_score]),
    )
    expect(quality).toEqual({
      ...{ 'sim-reference': 1, 'sim-good': 1, 'sim-plain': 1, 'sim-dear': 1, 'sim-flaky': 1 },
      ...{ 'sim-wrong': 0.8, 'sim-verbose': 0 },
    })
  })

  test('says which qualify and why the others do not', async () => {
    const { body } = await gateway.api('GET', '/api/autopilot/scores')
    // biome-ignore lint/suspicious/noExplicitAny: scores of an answer
    const byModel = new Map<string, any>(body.scores.map((score: any) => [score.model, score]))
    // biome-ignore lint/suspicious/noExplicitAny: scores of an answer
    expect(body.scores.filter((score: any) => score.qualifies).map((score: any) => score.model)).toEqual([
      ...['sim-plain', 'sim-good', 'sim-reference', 'sim-dear'],
    ])
    expect(byModel.get('sim-wrong').problem).toContain('lower bound')
    expect(byModel.get('sim-verbose').problem).toContain('lower bound')
    expect(byModel.get('sim-flaky')).toMatchObject({ success_rate: 0.5, samples: 20 })
    expect(byModel.get('sim-good')).toMatchObject({ samples: 40, provider: 'sim', input_price_per_m: 1 })
    expect(byModel.get('sim-reference').provider).toBe('sim')
    expect(byModel.get('sim-reference').input_price_per_m).toBeGreaterThan(0)
    expect(byModel.get('sim-good').quality_ci.low).toBeCloseTo(0.9124, 3)
    expect(calibrated.body.recommendation).toMatchObject({ model: 'sim-plain' })
  })

  test('repeats calls of listed users only, streams included, and counts in nobody’s figures', async () => {
    const { body } = await gateway.api('GET', '/api/autopilot/calibration-log?limit=500')
    expect(body.total).toBe(6 * calls)
    // biome-ignore lint/suspicious/noExplicitAny: items of a list
    const traces: any[] = []
    for (const offset of [0, 500]) {
      const page = `/api/observe/traces?source=calibration&limit=500&offset=${offset}`
      traces.push(...(await gateway.api('GET', page)).body.traces)
    }
    // Each answer of the five models that always answer takes two questions to the judge.
    expect(traces).toHaveLength(6 * calls + 2 * (5 * calls + calls / 2))
    expect(new Set(traces.map(({ user_id }) => user_id))).toEqual(new Set([null]))
    expect(traces.some(({ stream }) => stream)).toBe(true)
    expect(upstream.requests.some(({ body }) => isOther(body))).toBe(false)
    const { body: usage } = await gateway.api('GET', '/api/observe/overview', undefined, ada.key)
    expect(usage.total_requests).toBe(calls)
    const spent = traces.reduce((sum, { cost_usd }) => sum + cost_usd, 0)
    expect(calibrated.body.cost_usd).toBeCloseTo(spent, 9)
  })

  test('keeps each score with the beginnings of both answers', async () => {
    const { body } = await gateway.api('GET', '/api/autopilot/calibration-log?limit=500')
    // biome-ignore lint/suspicious/noExplicitAny: items of a list
    const wrong = body.log.filter(({ model, score }: any) => model === 'sim-wrong' && score === 0)
    expect(wrong).toHaveLength(calls / 5)
    expect(wrong[0]).toMatchObject({ status: 'scored', method: 'judge, both orders', error: null })
    expect(wrong[0].reference_preview).not.toBe(wrong[0].candidate_preview)
    // biome-ignore lint/suspicious/noExplicitAny: items of a list
    expect(body.log.filter(({ status }: any) => status === 'failed')).toHaveLength(calls / 2)
  })
})

/** Whether a request has the question of the user who is on no list, for another model than asked. */
const isOther = (body: unknown): boolean =>
  JSON.stringify(body).includes(questionOf(99)) && (body as { model: string }).model !== 'sim-reference'

describe('a call', () => {
  test('goes to the cheapest model that qualifies, by each of the names and with the official client', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: ada.key })
    for (const model of ['autopilot', 'auto', 'sim-reference']) {
      const messages = [{ role: 'user' as const, content: questionOf(3) }]
      const answer = await client.chat.completions.create({ model, messages })
      expect(answer.choices[0]!.message.content).toBe('It is 6.')
      expect(upstream.last().body).toMatchObject({ model: 'sim-plain' })
    }
  })

  test('only goes to models that can do what it needs', async () => {
    const long = 'word '.repeat(3000)
    expect(await routed({ tools })).toBe('sim-good')
    expect(await routed({ response_format: { type: 'json_object' } })).toBe('sim-good')
    expect(
      await routed({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }, image] }] }),
    ).toBe('sim-good')
    expect(await routed({ messages: [{ role: 'user', content: long }] })).toBe('sim-good')
    expect(await routed({ max_tokens: 1990 })).toBe('sim-good')
    expect(await routed({ stream: true })).toBe('sim-plain')
    for (const { body } of upstream.requests) {
      const { model, tools } = body as { model: string; tools?: unknown }
      if (model === 'sim-plain') expect(tools).toBeUndefined()
    }
  })

  test('never goes to a model below the bound, whatever the threshold, the mode and the confidence', async () => {
    const low = new Map<string, number>()
    for (const mode of ['cost', 'speed', 'balanced'])
      for (const confidence of [0.8, 0.95, 0.99])
        for (const quality_threshold of [0.5, 0.7, 0.85, 0.9, 0.95]) {
          const { body } = await put({ mode, confidence, quality_threshold, min_success_rate: 0.2 })
          for (const [model, score] of Object.entries<{ quality_ci: { low: number } }>(body.scores))
            low.set(model, score.quality_ci.low)
          const model = (await routed({}))!
          expect(low.get(model), `${mode} ${confidence} ${quality_threshold}`).toBeGreaterThanOrEqual(
            quality_threshold,
          )
          if (confidence > 0.9 && quality_threshold === 0.95) expect(model).toBe('sim-reference')
        }
    expect(low.get('sim-verbose')).toBe(0)
    await put({ mode: null, confidence: null, quality_threshold: null, min_success_rate: null })
  }, 30_000)

  test('gets the reference model while autopilot is off, and where the key may use no other', async () => {
    await put({ enabled: false })
    expect(await routed({})).toBe(null)
    expect(upstream.last().body).toMatchObject({ model: 'sim-reference' })
    await put({ enabled: true })
    const { body } = await gateway.api('GET', '/api/auth/me/keys', undefined, bob.key)
    const scope = { models: ['autopilot', 'sim-reference'] }
    const path = `/api/modules/keyscope/keys/${body.keys[0].id}`
    expect((await gateway.api('PUT', path, scope)).status).toBe(200)
    expect(await routed({}, bob.key)).toBe('sim-reference')
    expect(await routed({})).toBe('sim-plain')
  })

  test('is explained by its trace and its decision, and its saving adds up', async () => {
    const id = (await ask(2)).headers.get('x-trace-id')
    const read = async () =>
      (await gateway.api('GET', `/api/autopilot/decisions?trace_id=${id}`, undefined, ada.key)).body
    await expect.poll(async () => (await read()).total).toBe(1)
    const [decision] = (await read()).decisions
    expect(decision).toMatchObject({
      ...{
        requested_model: 'autopilot',
        routed_model: 'sim-plain',
        routed_provider: 'sim',
        quality_score: 1,
      },
      ...{ user_id: ada.userId, capped: false, fell_back: false },
    })
    expect(decision.actual_savings).toBeCloseTo(19 * decision.actual_cost, 9)
    expect(decision.estimated_savings).toBeCloseTo(decision.baseline_cost - decision.estimated_cost, 12)
    const trace = async () => (await gateway.api('GET', `/api/observe/traces/${id}`)).body
    await expect.poll(async () => (await trace()).facts?.autopilot?.model).toBe('sim-plain')
    const { decisions, model_requested, model, cost_usd } = await trace()
    expect([model_requested, model, cost_usd]).toEqual(['autopilot', 'sim-plain', decision.actual_cost])
    expect(decisions[0]).toMatchObject({ kind: 'autopilot', chosen: 'sim-plain' })
    expect(decisions[0].considered).toEqual(['sim-plain', 'sim-good', 'sim-reference'])
    const sums = async () => {
      const { body: costs } = await gateway.api('GET', '/api/observe/costs')
      const { body: stats } = await gateway.api('GET', '/api/autopilot/stats')
      const { body: list } = await gateway.api('GET', '/api/autopilot/decisions?limit=500')
      const total = list.decisions.reduce(
        (sum: number, one: { actual_savings: number }) => sum + one.actual_savings,
        0,
      )
      return [costs.saved_by_autopilot_usd, stats.total_savings, total].map((usd) => Math.round(usd * 1e9))
    }
    await expect.poll(async () => new Set(await sums()).size).toBe(1)
    expect((await sums())[0]).toBeGreaterThan(0)
    const { body: stats } = await gateway.api('GET', '/api/autoroute/stats')
    expect(stats).toMatchObject({ calibrations_run: 1, today_savings: stats.total_savings })
    const counted = stats.route_distribution.reduce(
      (sum: number, { count }: { count: number }) => sum + count,
      0,
    )
    expect(counted).toBe(stats.total_decisions)
    expect((await gateway.api('GET', '/api/autopilot/decisions', undefined, bob.key)).body.total).toBe(1)
    const { body: cap } = await gateway.api('GET', '/api/autopilot/cap', undefined, ada.key)
    expect(cap).toMatchObject({ limit: null, remaining: null, capped: false })
    expect(cap.savings_today).toBeGreaterThan(0)
  })

  test.each([false, true])(
    'of which an attempt has no price saves nothing that is counted (streamed: %j)',
    async (stream) => {
      const stats = async () => (await gateway.api('GET', '/api/autopilot/stats')).body
      const before = await stats()
      const messages = [{ role: 'user', content: questionOf(6) }]
      const response = await post({ model: 'auto', messages, stream }, ada.key, { 'x-project': 'odd' })
      expect(response.headers.get('x-autopilot-model')).toBe('sim-plain')
      await response.text()
      const id = response.headers.get('x-trace-id')
      const trace = async () => (await gateway.api('GET', `/api/observe/traces/${id}`)).body
      await expect.poll(async () => (await trace()).cost?.unpriced).toBe(1)
      expect((await trace()).facts.autopilot).toEqual({ model: 'sim-plain' })
      const { body } = await gateway.api('GET', `/api/autopilot/decisions?trace_id=${id}`)
      expect(body.decisions).toMatchObject([{ actual_cost: null, actual_savings: null }])
      expect(await stats()).toMatchObject({
        total_decisions: before.total_decisions + 1,
        total_savings: before.total_savings,
        today_savings: before.today_savings,
      })
    },
  )

  test('explores other models that qualify, and none else', async () => {
    await put({ explore_pct: 50 })
    const models = new Set<string | null>()
    for (let n = 0; n < 60; n += 1) models.add(await routed({}))
    expect([...models].sort()).toEqual(['sim-good', 'sim-plain'])
    await put({ explore_pct: null })
  })
})

test('a model that stops answering is replaced in each call, and gets none after at most 50', async () => {
  upstream.reset()
  simulate(upstream, { script: (model) => (model === 'sim-plain' ? { status: 503 } : undefined) })
  const models: string[] = []
  const before = upstream.requests.length
  for (let n = 0; n < 50; n += 1) {
    const response = await ask(5)
    expect(response.status).toBe(200)
    models.push(response.headers.get('x-autopilot-model')!)
    if (models.at(-1) === 'sim-good') break
  }
  expect(models.length).toBeLessThan(50)
  expect(upstream.requests.length).toBeGreaterThan(before)
  const { body } = await gateway.api('GET', '/api/autopilot')
  expect(body).toMatchObject({ state: 'degraded', current_route: { model: 'sim-good' } })
  expect(body.scores['sim-plain'].problem).toContain('suspended')
  const { body: list } = await gateway.api('GET', '/api/autopilot/decisions?limit=500')
  // biome-ignore lint/suspicious/noExplicitAny: items of a list
  expect(list.decisions.some((one: any) => one.fell_back && one.routed_model === 'sim-plain')).toBe(true)
}, 60_000)

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { questionOf, simulate, simulationConfig } from '../../test/simulated-models.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let free: { userId: string; key: string }
let pro: { userId: string; key: string }
const told: string[] = []

const calls = 8

beforeAll(async () => {
  upstream = await startUpstream()
  simulate(upstream)
  gateway = await startGateway({ config: { ...simulationConfig(upstream), plans: { enforce: true } } })
  gateway.kernel.events.onAny((_, { type }) => void told.push(type.name))
  await gateway.kernel.registry.change('plans', {
    config: { plans: { free: { requests_per_month: 100_000 } } },
  })
  free = await gateway.signUp('cap-free')
  pro = await gateway.signUp('cap-pro')
  await gateway.api('PUT', `/api/auth/users/${pro.userId}`, { plan: 'pro' })
  for (let n = 0; n < calls; n += 1) await ask(free.key, 'sim-reference', n)
  const traces = async () => (await gateway.api('GET', '/api/observe/traces?limit=1')).body.total
  await vi.waitUntil(async () => (await traces()) === calls, { timeout: 10_000 })
  await gateway.api('PUT', '/api/autopilot', {
    ...{ enabled: true, reference_model: 'sim-reference', candidate_models: ['sim-good'] },
    ...{ judge: { model: 'sim-judge' }, max_cost_usd: 1, content: { users: [free.userId] } },
    quality_threshold: 0.5,
  })
  const { body } = await gateway.api('POST', '/api/autopilot/calibrate', { wait_ms: 60_000 })
  expect(body.recommendation.model).toBe('sim-good')
}, 60_000)

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

/** The model that answers. */
async function ask(key: string, model = 'autopilot', n = 1): Promise<string> {
  const messages = [{ role: 'user', content: questionOf(n) }]
  const { status, body } = await gateway.api('POST', '/v1/chat/completions', { model, messages }, key)
  expect(status).toBe(200)
  return body.model
}

const capOf = async (key: string, path = '/api/autopilot/cap') =>
  (await gateway.api('GET', path, undefined, key)).body

test('of a thousand calls at once exactly a hundred are routed, and the user is told once', async () => {
  expect(await capOf(free.key)).toEqual({
    ...{ used_today: 0, limit: 100, remaining: 100, savings_today: 0, capped: false },
  })
  const models = await Promise.all(Array.from({ length: 1000 }, () => ask(free.key)))
  expect(models.filter((model) => model === 'sim-good')).toHaveLength(100)
  expect(models.filter((model) => model === 'sim-reference')).toHaveLength(900)
  const cap = await capOf(free.key, '/api/autoroute/cap')
  expect(cap).toMatchObject({ used_today: 100, limit: 100, remaining: 0, capped: true })
  const { body } = await gateway.api('GET', '/api/autopilot/decisions?limit=500', undefined, free.key)
  // biome-ignore lint/suspicious/noExplicitAny: items of a list
  const capped = body.decisions.filter((one: any) => one.capped)
  expect(capped.length).toBeGreaterThan(0)
  expect(capped[0]).toMatchObject({
    routed_model: 'sim-reference',
    reason: expect.stringContaining('used up'),
  })
  const event = 'upgrade.autoroute_cap_reached'
  await expect.poll(() => told.filter((name) => name === event)).toEqual([event])
  await ask(free.key)
  const { body: prompts } = await gateway.api('GET', '/api/upgrade-prompts', undefined, free.key)
  // biome-ignore lint/suspicious/noExplicitAny: items of a list
  expect(prompts.triggers.map(({ id }: any) => id)).toEqual([
    expect.stringContaining('autoroute_cap_reached'),
  ])
  expect(told.filter((name) => name === event)).toEqual([event])
}, 60_000)

test('users of larger plans have no cap', async () => {
  expect(await ask(pro.key)).toBe('sim-good')
  expect(await capOf(pro.key)).toMatchObject({ limit: null, remaining: null, capped: false })
  await expect.poll(async () => (await capOf(pro.key)).used_today).toBe(1)
})

test('calls that no model is found for take nothing of the cap', async () => {
  const other = await gateway.signUp('cap-other')
  await gateway.api('PUT', '/api/autopilot', { quality_threshold: 1 })
  expect(await ask(other.key)).toBe('sim-reference')
  expect(await capOf(other.key)).toMatchObject({ used_today: 0, remaining: 100 })
  await gateway.api('PUT', '/api/autopilot', { quality_threshold: 0.5 })
  expect(await ask(other.key)).toBe('sim-good')
  expect(await capOf(other.key)).toMatchObject({ used_today: 1, remaining: 99 })
})

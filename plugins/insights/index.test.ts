import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import type { Insight } from './insight.ts'

const [dear, cheap] = ['gpt-4o', 'gpt-4o-mini']

let upstream: Upstream
let gateway: TestGateway
let users = 0
/** A new user for each test, whose calls nothing else is said of. */
let user: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

beforeEach(async () => {
  upstream.reset()
  users += 1
  user = await gateway.signUp(`user${users}`)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

interface Asked {
  readonly model?: string
  readonly system?: string
  readonly input?: number
  readonly output?: number
  readonly cached?: number
  readonly says?: string
}

/** Makes a call with the usage that the provider reports, and returns its status. */
async function ask(content: string, asked: Asked = {}): Promise<number> {
  const { model = cheap, system, input = 100, output = 20, cached = 0, says = 'Fine.' } = asked
  upstream.reply({
    content: says,
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached },
    },
  })
  const messages = [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content },
  ]
  const { status } = await gateway.api('POST', '/v1/chat/completions', { model, messages }, user.key)
  return status
}

/** As many calls as asked for, each with another question. */
async function askTimes(times: number, asked: Asked = {}): Promise<void> {
  for (let n = 0; n < times; n += 1) await ask(`Question ${users} ${n}`, asked)
}

async function report(key = user.key, query = '') {
  return (await gateway.api('GET', `/api/insights?${query}`, undefined, key)).body
}

async function insights(type: Insight['type'], key?: string): Promise<Insight[]> {
  const { insights: all } = await report(key)
  return all.filter((one: Insight) => one.type === type)
}

async function costOf(query = ''): Promise<number> {
  const { traces } = (await gateway.api('GET', `/api/observe/traces?limit=500&${query}`, undefined, user.key))
    .body
  return traces.reduce((sum: number, { cost_usd }: { cost_usd: number | null }) => sum + (cost_usd ?? 0), 0)
}

test('nothing is said of few calls that went well', async () => {
  await askTimes(4)
  expect(await report()).toMatchObject({
    insights: [],
    total: 0,
    has_more: false,
    traces_analyzed: 4,
    bodies_analyzed: 4,
    complete: true,
  })
})

test('cost_waste: calls that cost and whose answers no client got, and their cost', async () => {
  const rule = { name: 'no pears', type: 'custom', pattern: 'pears', action: 'block', direction: 'response' }
  const { id } = (await gateway.api('POST', '/api/guardrails', rule)).body
  await askTimes(3)
  for (let n = 0; n < 3; n += 1) expect(await ask(`Fruit ${n}`, { says: 'Eat pears!' })).toBe(400)
  await gateway.api('DELETE', `/api/guardrails/${id}`)
  const wasted = await costOf('status=blocked')
  expect(wasted).toBeGreaterThan(0)
  const [found] = await insights('cost_waste')
  expect(found).toMatchObject({ evidence: { calls: 3, by_status: { blocked: 3 } }, severity: 'high' })
  expect(found!.est_savings_usd).toBeCloseTo(wasted, 9)
  expect(JSON.stringify(found)).not.toContain('pears')
})

test('pii_detected: personal data that guards found, and whether it passed', async () => {
  await gateway.module('maskmode', { enabled: true, config: { mode: 'redact', entities: ['email'] } })
  await ask('I am ada@example.com')
  await gateway.module('maskmode', { enabled: false })
  await ask('Hello')
  const [found] = await insights('pii_detected')
  expect(found).toMatchObject({
    severity: 'low',
    est_savings_usd: 0,
    evidence: { calls: 1, passed: 0, by_category: { email: 1 } },
  })
  expect(JSON.stringify(found)).not.toContain('ada@')
})

const instructions = Array.from({ length: 700 }, (_, n) => `Rule ${n}: be kind and short.`).join(' ')

test('prompt_duplication: long instructions that the provider reads anew, at what its cache would save', async () => {
  await askTimes(6, { system: instructions, input: 6000 })
  const [found] = await insights('prompt_duplication')
  expect(found).toMatchObject({ evidence: { model: `openai/${cheap}`, calls: 6 } })
  const { estimated_tokens } = found!.evidence as { estimated_tokens: number }
  expect(estimated_tokens).toBeGreaterThan(1024)
  expect(estimated_tokens).toBeLessThanOrEqual(6000)
  // A million tokens of gpt-4o-mini cost 0.15 USD, and 0.075 USD out of the prompt cache.
  expect(found!.est_savings_usd).toBeCloseTo((5 * estimated_tokens * 0.075) / 1e6, 8)
})

test('prompt_duplication: not where the provider had them in its cache, nor for short ones', async () => {
  await askTimes(6, { system: instructions, input: 6000, cached: 5000 })
  await askTimes(6, { system: 'Be kind.' })
  expect(await insights('prompt_duplication')).toEqual([])
})

test('error_rate: a model whose calls fail', async () => {
  await askTimes(18)
  expect(await insights('error_rate')).toEqual([])
})

/** Calls that the provider answers with an error, and that are not tried again. */
async function failTimes(times: number, status: number): Promise<void> {
  upstream.reset()
  upstream.reply({ status, error: { message: 'no' }, times: Number.POSITIVE_INFINITY })
  for (let n = 0; n < times; n += 1) {
    const messages = [{ role: 'user', content: `Fail ${n}` }]
    await gateway.api('POST', '/v1/chat/completions', { model: cheap, messages }, user.key)
  }
  upstream.reset()
}

test('error_rate: not because of requests that are wrong', async () => {
  await askTimes(18)
  await failTimes(6, 400)
  await failTimes(1, 422)
  expect(await insights('error_rate')).toEqual([])
})

test('error_rate: from a tenth of the calls on', async () => {
  await askTimes(18)
  await gateway.module('retrypilot', { enabled: false })
  await failTimes(3, 500)
  await gateway.module('retrypilot', { enabled: true })
  const [found] = await insights('error_rate')
  expect(found).toMatchObject({
    severity: 'medium',
    evidence: { model: `openai/${cheap}`, calls: 21, errors: 3, error_rate_pct: 14.3 },
    est_savings_usd: 0,
  })
})

test('model_concentration: one model that nearly all the money goes to', async () => {
  await askTimes(50)
  expect(await insights('model_concentration')).toMatchObject([
    { evidence: { model: `openai/${cheap}`, share_pct: 100, total_calls: 50 }, est_savings_usd: 0 },
  ])
})

test('model_concentration: not where two models share the cost', async () => {
  await askTimes(30, { model: cheap, input: 10_000 })
  await askTimes(30, { model: dear, input: 600 })
  expect(await insights('model_concentration')).toEqual([])
})

test('cacheable: what a cache would have answered, at what it cost', async () => {
  for (let n = 0; n < 7; n += 1) await ask('The same question')
  const all = await costOf()
  const [found] = await insights('cacheable')
  expect(found).toMatchObject({ evidence: { calls: 6 } })
  expect(found!.est_savings_usd).toBeCloseTo((all * 6) / 7, 9)
})

test('cacheable: not for other questions, nor where a cache has answered', async () => {
  await askTimes(7)
  await gateway.module('cachelayer', { enabled: true })
  for (let n = 0; n < 7; n += 1) await ask('The same question')
  await gateway.module('cachelayer', { enabled: false })
  expect(await insights('cacheable')).toEqual([])
})

test('oversized_model: short calls that a cheaper model in use would answer, at the difference', async () => {
  await askTimes(20, { model: dear })
  await askTimes(5, { model: cheap })
  const [found] = await insights('oversized_model')
  expect(found).toMatchObject({
    evidence: {
      model: `openai/${dear}`,
      cheaper_model: `openai/${cheap}`,
      calls: 20,
      avg_tokens_in: 100,
      avg_tokens_out: 20,
    },
  })
  const spent = await costOf(`model=${dear}`)
  const cheaper = (20 / 5) * (await costOf(`model=${cheap}`))
  expect(found!.est_savings_usd).toBeCloseTo(spent - cheaper, 9)
})

test('oversized_model: not for long calls, nor where no cheaper model is in use', async () => {
  await askTimes(20, { model: dear, input: 5000, output: 900 })
  await askTimes(5, { model: cheap })
  expect(await insights('oversized_model')).toEqual([])
  user = await gateway.signUp('only-dear')
  await askTimes(20, { model: dear })
  expect(await insights('oversized_model')).toEqual([])
})

test('users learn of their own calls, admins of all and of modules that never run; pages and filters hold', async () => {
  await gateway.module('secretscan', { enabled: true, when: { projects: ['nowhere'] } })
  await askTimes(20)
  for (let n = 0; n < 7; n += 1) await ask('The same question')
  const other = await gateway.signUp('other')
  expect((await report(other.key)).traces_analyzed).toBe(0)
  expect(await insights('unused_module')).toEqual([])
  const admin = await report(gateway.adminKey)
  // An analysis has a limit of time, and a busy machine reads fewer.
  expect(admin.traces_analyzed).toBeGreaterThan(20)
  const unused = admin.insights.filter(({ type }: Insight) => type === 'unused_module')
  expect(unused.map(({ evidence }: Insight) => evidence.module)).toEqual(['secretscan'])
  const savings = admin.insights.map(({ est_savings_usd }: Insight) => est_savings_usd)
  expect(savings).toEqual(savings.toSorted((a: number, b: number) => b - a))

  const page = await report(gateway.adminKey, 'limit=1')
  expect(page).toMatchObject({ insights: [admin.insights[0]], total: admin.total, has_more: true })
  expect(page.generated_at).toBe(admin.generated_at)
  const rest = await report(gateway.adminKey, `cursor=${page.next_cursor}`)
  expect(rest.insights).toEqual(admin.insights.slice(1))
  const some = await report(gateway.adminKey, 'type=unused_module')
  expect(some.insights).toEqual(unused)
  expect((await report(user.key, 'type=luck')).error.status).toBe(400)
  expect((await report(user.key, 'days=31')).error.status).toBe(400)
})

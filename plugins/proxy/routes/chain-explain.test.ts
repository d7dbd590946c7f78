import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(() => upstream.reset())

/** What an explanation says of a module. */
interface Told {
  readonly name: string
  readonly outcome: string
}

const request = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello there' }] }

async function explain(body: Record<string, unknown> = {}, key?: string) {
  const answer = await gateway.api('POST', '/api/proxy/chain/explain', { request, ...body }, key)
  return answer.body
}

const moduleOf = (body: { modules: { name: string }[] }, name: string) =>
  body.modules.find((module) => module.name === name)

test('a call is explained without being made: route, key, price, and every module in its place', async () => {
  const body = await explain({ request: { ...request, max_tokens: 100 } })
  expect(body).toMatchObject({
    verdict: 'would_call',
    error: null,
    model: 'gpt-4o-mini',
    operation: 'chat',
    generation: gateway.kernel.registry.generation.number,
    route: {
      provider: 'openai',
      model: 'gpt-4o-mini',
      circuit: 'closed',
      key: { owner: 'global', source: 'config', hints: ['test'] },
    },
    price: {
      price_id: expect.stringMatching(/gpt-4o-mini/),
      source: 'catalogue',
      usd_per_m: { input: 0.15 },
    },
    estimate: { tokens_in: 10, tokens_out_max: 100 },
  })
  const { input_usd, output_usd_max, total_usd_max } = body.estimate
  expect(input_usd + output_usd_max).toBeCloseTo(total_usd_max, 12)
  const { chain } = (await gateway.api('GET', '/api/proxy/chain')).body
  const namesOf = (wanted: string): string[] =>
    body.modules.flatMap(({ name, outcome }: Told) => (outcome === wanted ? [name] : []))
  const idle = namesOf('idle')
  expect(idle).toEqual(expect.arrayContaining(['costcap', 'trustenforce', 'guardrail']))
  const others = chain.map(({ name }: Told) => name).filter((name: string) => !idle.includes(name))
  expect(namesOf('runs')).toEqual(others)
  expect(moduleOf(body, 'ipfence')).toMatchObject({ outcome: 'off' })
  expect(upstream.requests).toHaveLength(0)
})

test('the longest answer is that of all its prompts, and of those that only compete', async () => {
  const prompts = {
    model: 'gpt-3.5-turbo-instruct',
    prompt: ['one', 'two'],
    n: 2,
    best_of: 3,
    max_tokens: 10,
  }
  expect(await explain({ request: prompts, path: '/v1/completions' })).toMatchObject({
    operation: 'completion',
    estimate: { tokens_out_max: 60 },
  })
})

test('aliases are followed, and what modules without side effects would change is told in shape', async () => {
  await gateway.module('modelalias', { config: { aliases: { fast: 'gpt-4o-mini' } } })
  await gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 50 } })
  const body = await explain({ request: { ...request, model: 'fast', max_tokens: 500 } })
  expect(body).toMatchObject({
    verdict: 'would_call',
    model_requested: 'fast',
    model: 'gpt-4o-mini',
    decisions: [{ kind: 'alias', chosen: 'gpt-4o-mini' }],
    estimate: { tokens_out_max: 50 },
  })
  expect(moduleOf(body, 'outputcap')).toMatchObject({
    outcome: 'runs',
    effect: 'known',
    changes: [
      { path: 'max_tokens', before: { type: 'number', value: 500 }, after: { type: 'number', value: 50 } },
    ],
  })
  expect(JSON.stringify(body)).not.toContain('hello there')
  await gateway.module('outputcap', { enabled: false })
  await gateway.module('modelalias', { config: { aliases: null } })
})

test('a condition that is not met is named, and a share is not decided by a call id that nobody will have', async () => {
  await gateway.module('outputcap', {
    enabled: true,
    config: { default_max_tokens: 50 },
    when: { projects: ['docs'] },
  })
  expect(moduleOf(await explain(), 'outputcap')).toMatchObject({ outcome: 'skipped', condition: 'projects' })
  const inDocs = await explain({ headers: { 'X-Project': 'docs' } })
  expect(moduleOf(inDocs, 'outputcap')).toMatchObject({ outcome: 'runs' })
  await gateway.module('outputcap', { when: { percent: 30 } })
  for (let n = 0; n < 20; n += 1)
    expect(moduleOf(await explain(), 'outputcap')).toMatchObject({ outcome: 'share', effect: 'unknown' })
  await gateway.module('outputcap', { enabled: false, when: null })
})

test('nothing is counted: limits are where they were, and no trace or statistic is left', async () => {
  await gateway.module('rateshield', { config: { rules: [{ per: 'global', rpm: 1 }] } })
  const before = await gateway.api('GET', '/api/observe/traces')
  for (let n = 0; n < 3; n += 1) {
    const body = await explain()
    expect(body.verdict).toBe('would_call')
    expect(moduleOf(body, 'rateshield')).toMatchObject({ outcome: 'runs', effect: 'unknown' })
  }
  expect((await gateway.api('GET', '/api/observe/traces')).body.total).toBe(before.body.total)
  expect((await gateway.api('GET', '/api/proxy/modules/paramnorm/stats')).body.calls).toBe(0)
  const real = await gateway.api('POST', '/v1/chat/completions', request)
  expect(real.status).toBe(200)
  await gateway.module('rateshield', { config: { rules: null } })
})

test("an admin may ask for a user's key, and learns what its scope refuses; users ask for themselves", async () => {
  const { userId, key } = await gateway.signUp('asked')
  const { body: keys } = await gateway.api('GET', '/api/auth/me/keys', undefined, key)
  const keyId = keys.keys[0].id
  const scoped = await gateway.api('PUT', `/api/proxy/modules/keyscope`, {
    config: { default_scope: { models: ['o1*'] } },
  })
  expect(scoped.status).toBe(200)
  const body = await explain({ caller: { key_id: keyId } })
  expect(body).toMatchObject({ verdict: 'would_refuse', error: { status: 403 }, caller: { user_id: userId } })
  const outcomes = body.modules.map(({ outcome }: { outcome: string }) => outcome)
  expect(outcomes.slice(outcomes.indexOf('refuses') + 1)).not.toContain('runs')
  expect(await explain({}, key)).toMatchObject({ verdict: 'would_refuse', caller: { key_id: keyId } })
  const other = await gateway.api(
    'POST',
    '/api/proxy/chain/explain',
    { request, caller: { user_id: 'usr_x' } },
    key,
  )
  expect(other.status).toBe(403)
  await gateway.module('keyscope', { config: { default_scope: null } })
  const own = await explain({}, key)
  expect(own.route?.key.hints).toBeUndefined()
})

test('a model that nobody serves, a path without a wire and a bad body are told as such', async () => {
  expect(await explain({ request: { ...request, model: 'no-such-model' } })).toMatchObject({
    verdict: 'cannot_route',
    route: null,
    price: null,
    error: { status: 404 },
  })
  expect(
    (await gateway.api('POST', '/api/proxy/chain/explain', { request, path: '/v1/nothing' })).status,
  ).toBe(404)
  const bad = await gateway.api('POST', '/api/proxy/chain/explain', { request: { model: 'm' } })
  expect(bad.status).toBe(400)
})

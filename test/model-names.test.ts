import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ask } from './ask.ts'
import { startGateway, type TestGateway } from './harness.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

/** One model under the names that it has at two providers, of which one passes calls on to many makers. */

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const like = { type: 'openai', base_url: upstream.baseUrl(), api_key: 'sk-test' }
  gateway = await startGateway({ upstream, config: { providers: { broker: like, second: like } } })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const say = (model: string, headers: Record<string, string> = {}, more: object = {}) =>
  ask(gateway, { headers, body: { model, messages: [{ role: 'user', content: 'hello' }], ...more } })

const sent = () => upstream.requests.map(({ body }) => (body as { model: string }).model)

const names = [
  ['gpt-4o', {}],
  ['openai/GPT-4o', {}],
  ['broker/openai/gpt-4o', {}],
  ['openai/gpt-4o', { 'x-provider': 'broker' }],
] as const

test('a limit of a model is one limit, by whatever name it is asked for', async () => {
  await gateway.module('rateshield', {
    enabled: true,
    config: { rules: [{ per: 'model', match: 'gpt-4o', rpm: 3 }] },
  })
  const statuses: number[] = []
  for (const [model, headers] of names) statuses.push((await say(model, headers)).status)
  await gateway.module('rateshield', { config: { rules: null } })
  expect(statuses).toEqual([200, 200, 200, 429])
})

test.each([
  ['o3', {}],
  ['broker/openai/o3', {}],
  ['openai/o3', { 'x-provider': 'broker' }],
])('%s takes the parameters of its family (%j)', async (model, headers) => {
  await say(model, headers, { max_tokens: 9 })
  expect(upstream.last().body).toMatchObject({ max_completion_tokens: 9 })
})

test('a key that is limited to the name at one provider reaches it by all ways of asking that provider', async () => {
  const limit = (models: string[]) => gateway.module('keyscope', { config: { default_scope: { models } } })
  const statuses = async (): Promise<number[]> =>
    Promise.all(names.map(async ([model, headers]) => (await say(model, headers)).status))
  await limit(['openai/gpt-4o'])
  expect(await statuses()).toEqual([403, 200, 200, 200])
  await limit(['broker/*'])
  expect(await statuses()).toEqual([403, 403, 200, 200])
  await gateway.module('keyscope', { config: { default_scope: null } })
})

test('a chain takes the name at one provider to another, and names no provider twice', async () => {
  const chains = { 'broker/openai/gpt-4o': ['broker/openai/gpt-4o', 'second/*', 'openai/*'] }
  await gateway.module('fallbackrouter', { enabled: true, config: { chains } })
  await gateway.module('retrypilot', { enabled: false })
  upstream.reply({ status: 500, times: 2 })
  expect((await say('broker/openai/gpt-4o')).status).toBe(200)
  expect(sent()).toEqual(['openai/gpt-4o', 'openai/gpt-4o', 'gpt-4o'])
})

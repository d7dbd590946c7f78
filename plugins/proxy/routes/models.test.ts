import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const mycorp = { type: 'openai', base_url: upstream.baseUrl(), api_key: 'sk-test', models: ['own-1'] }
  const deepseek = { base_url: upstream.baseUrl(), api_key: 'sk-test' }
  gateway = await startGateway({
    upstream,
    config: {
      providers: { mycorp, deepseek },
      models: { 'mycorp/own-*': { context_window: 9000, capabilities: { vision: true } } },
      prices: { 'mycorp/own-1': { input_usd_per_m: 7, output_usd_per_m: 8 } },
    },
  })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const find = <T extends { id: string }>(items: readonly T[], id: string): T | undefined =>
  items.find((item) => item.id === id)

it('a model says what it can do and costs, and a client of OpenAI can read it', async () => {
  const client = new OpenAI({ apiKey: gateway.adminKey, baseURL: `${gateway.url}/v1` })
  const model = await client.models.retrieve('gpt-4o')
  expect(model).toMatchObject({
    object: 'model',
    owned_by: 'openai',
    context_window: 128_000,
    max_output_tokens: 16_384,
    capabilities: { vision: true, tools: true },
    pricing: { input_usd_per_m: 2.5, output_usd_per_m: 10, cached_read_usd_per_m: 1.25 },
  })
  const all = []
  for await (const item of client.models.list()) all.push(item)
  expect(find(all, 'gpt-4o')).toMatchObject({ context_window: 128_000 })
})

it('an override of service.yaml shows, and what nobody knows is null', async () => {
  const { body: own } = await gateway.api('GET', `/v1/models/${encodeURIComponent('mycorp/own-1')}`)
  expect(own).toMatchObject({
    context_window: 9000,
    max_output_tokens: null,
    capabilities: { vision: true },
    pricing: { input_usd_per_m: 7, source: 'override', origin: 'service.yaml' },
    origin: 'service.yaml',
  })
  const unknown = await gateway.api('GET', `/v1/models/${encodeURIComponent('openai/never-heard-of')}`)
  expect(unknown.body).toMatchObject({ context_window: null, pricing: null, capabilities: {}, origin: null })
})

it('the listing can be cut to what is known to be able to do something', async () => {
  const { body } = await gateway.api('GET', '/api/proxy/models?provider=openai&capability=vision&limit=500')
  expect(find(body.models, 'gpt-4o')).toBeDefined()
  expect(find(body.models, 'text-embedding-3-small')).toBeUndefined()
  expect(body.catalogue).toMatchObject({ problem: null, origins: [{ models: expect.any(Number) }] })
})

it('an alias is listed with what its model can do', async () => {
  await gateway.module('modelalias', { enabled: true, config: { aliases: { best: 'openai/gpt-4o' } } })
  const { body } = await gateway.api('GET', '/api/proxy/models?limit=500')
  expect(find(body.models, 'best')).toMatchObject({
    alias: true,
    provider: 'openai',
    model: 'gpt-4o',
    context_window: 128_000,
  })
  expect((await gateway.api('GET', '/v1/models/best')).body).toMatchObject({ owned_by: 'openai' })
})

it('a key sees only the models that it may use', async () => {
  const { userId, key } = await gateway.signUp('scoped')
  const keys = await gateway.api('GET', `/api/auth/users/${userId}/keys`)
  const [{ id }] = keys.body.keys
  const scoped = await gateway.api('PUT', `/api/modules/keyscope/keys/${id}`, { models: ['gpt-4o*'] })
  expect(scoped.status).toBe(200)
  const { body } = await gateway.api('GET', '/v1/models', undefined, key)
  const ids = body.data.map((model: { id: string }) => model.id)
  expect(ids).toContain('gpt-4o')
  expect(ids.filter((name: string) => !name.includes('gpt-4o'))).toEqual([])
  const hidden = await gateway.api('GET', '/v1/models/gpt-4.1', undefined, key)
  expect(hidden.status).toBe(404)
  expect(
    (await gateway.api('POST', '/v1/chat/completions', { model: 'gpt-4.1', messages: [] }, key)).status,
  ).not.toBe(200)
})

it('a loaded catalogue is in use after a rescan, which is for admins', async () => {
  const models = { 'openai/gpt-4o': { operation: 'chat', context_window: 4242 } }
  const file = { format: 'switchyard-catalogue/1', source: 'a test', date: '2026-11-21', models }
  await writeFile(path.join(gateway.dataDir, 'catalogue.json'), JSON.stringify(file))
  const { key } = await gateway.signUp('rescanner')
  expect((await gateway.api('POST', '/api/proxy/models/rescan', undefined, key)).status).toBe(403)
  const { body } = await gateway.api('POST', '/api/proxy/models/rescan')
  expect(body.origins[0]).toEqual({ origin: 'a test, of 2026-11-21', models: 1 })
  expect((await gateway.api('GET', '/v1/models/gpt-4o')).body).toMatchObject({ context_window: 4242 })
})

it('a model that only the catalogue knows goes to the provider that it is listed for', async () => {
  const { status, body } = await gateway.api('GET', '/v1/models/deepseek-v4-flash')
  expect(status).toBe(200)
  expect(body.owned_by).toBe('deepseek')
})

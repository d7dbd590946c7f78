import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { bareChain } from '../../../test/bare.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let folder: string

beforeAll(async () => {
  upstream = await startUpstream()
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-providers-'))
  await addListener(path.join(folder, 'listener'))
  const broken = {
    type: 'openai',
    base_url: upstream.baseUrl(),
    api_key: 'wrong-secret-key',
    models: ['broken-*'],
  }
  const entries = { broken, azure: { api_key: 'k' }, bedrock: { api_key: 'a:b:c:d' } }
  gateway = await startGateway({ upstream, config: { providers: entries, plugin_dirs: [folder] } })
  await bareChain(gateway)
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true })
})

/** An area that reports the events of providers that it received. */
async function addListener(at: string): Promise<void> {
  const manifest = { id: 'listener', kind: 'area', version: '1.0.0', permissions: ['routes'], enabled: true }
  const code = `import { z } from ${JSON.stringify(import.meta.resolve('zod'))}
    export default { settings: z.strictObject({}), setup({ onAny, route }) {
      const heard = []
      onAny((data, { type }) => { if (type.name.startsWith('provider.')) heard.push({ name: type.name, data }) })
      route({ method: 'get', path: '/api/heard', access: 'admin', summary: 'Heard', returns: z.any(), handle: () => heard })
    } }`
  await mkdir(at)
  await writeFile(
    path.join(at, 'manifest.json'),
    JSON.stringify({ ...manifest, title: 'L', description: 'Of this test.' }),
  )
  await writeFile(path.join(at, 'index.js'), code)
}

const providers = '/api/proxy/providers'
const call = (model: string, key?: string) =>
  gateway.api('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] }, key)

it('providers are known, and nothing is said of their health before anything has shown it', async () => {
  const { body } = await gateway.api('GET', `${providers}?limit=500`)
  const item = body.providers.find(({ name }: { name: string }) => name === 'openai')
  expect(item).toMatchObject({
    kind: 'openai',
    status: 'unknown',
    error_rate: null,
    last_checked: null,
    circuit: 'closed',
  })
  expect(item).toMatchObject({ base_url: upstream.baseUrl(), key_source: 'config' })
  expect(body.providers.find(({ name }: { name: string }) => name === 'groq').status).toBe('unconfigured')
  expect(upstream.requests).toHaveLength(0)
})

it('real calls show how a provider is', async () => {
  for (let n = 0; n < 6; n += 1) expect((await call('gpt-4o')).status).toBe(200)
  const good = await gateway.api('GET', `${providers}/openai`)
  expect(good.body).toMatchObject({ status: 'healthy', error_rate: 0 })
  expect(good.body.latency_ms).toBeGreaterThanOrEqual(0)
  upstream.reply({ status: 500, times: 6 })
  for (let n = 0; n < 6; n += 1) await call('gpt-4o')
  expect((await gateway.api('GET', `${providers}/openai`)).body).toMatchObject({
    status: 'down',
    error_rate: 0.5,
  })
  const status = await gateway.api('GET', '/api/proxy/status')
  expect(status.body).toMatchObject({ status: 'degraded', upstream_attempts: { total: 12, failed: 6 } })
})

it('failures and changes of health are told to who listens', async () => {
  const { body } = await gateway.api('GET', '/api/heard')
  const of = (name: string) => body.filter((event: { name: string }) => event.name === name)
  expect(of('provider.error')).toHaveLength(6)
  expect(of('provider.error')[0].data).toMatchObject({
    provider: 'openai',
    model: 'gpt-4o',
    status: 500,
    attempt: 1,
    trace_id: expect.stringMatching(/^tr_/),
  })
  expect(of('provider.health_changed').map(({ data }: { data: object }) => data)).toMatchObject([
    { provider: 'openai', from: 'healthy', to: 'degraded', window_s: 300 },
    { provider: 'openai', from: 'degraded', to: 'down' },
  ])
})

it('a provider that is down is asked until it is not, and that is told too', async () => {
  await gateway.kernel.registry.change('proxy', { config: { recheck_s: 0.05 } })
  const seen = async () => (await gateway.api('GET', '/api/heard')).body
  await expect.poll(seen, { timeout: 10_000 }).toContainEqual({
    name: 'provider.health_changed',
    data: expect.objectContaining({ provider: 'openai', from: 'down', to: 'healthy' }),
  })
  expect(upstream.last()).toMatchObject({ method: 'GET', path: '/v1/models' })
  await gateway.kernel.registry.change('proxy', { config: { recheck_s: null } })
})

it("a caller's own mistakes say nothing about the provider", async () => {
  const before = (await gateway.api('GET', `${providers}/openai`)).body.error_rate
  upstream.reply({ status: 400, times: 3 })
  for (let n = 0; n < 3; n += 1) await call('gpt-4o')
  expect((await gateway.api('GET', `${providers}/openai`)).body.error_rate).toBeLessThan(before)
})

it('a check really asks, with the key, and tells the truth', async () => {
  const good = await gateway.api('POST', `${providers}/openai/check`)
  expect(upstream.last()).toMatchObject({ method: 'GET', path: '/v1/models', key: 'sk-test' })
  expect(good.body).toMatchObject({ name: 'openai', status: 'healthy' })
  expect(good.body.last_checked).not.toBeNull()
  const bad = await gateway.api('POST', `${providers}/broken/check`)
  expect(bad.status).toBe(200)
  expect(bad.body).toMatchObject({ status: 'down', message: expect.stringContaining('broken') })
  expect(JSON.stringify(bad.body)).not.toContain('wrong-secret-key')
  expect((await gateway.api('POST', `${providers}/groq/check`)).body.status).toBe('unconfigured')
})

it('a check says what an entry lacks, and what is wrong with the form of its key', async () => {
  const { body: azure } = await gateway.api('POST', `${providers}/azure/check`)
  expect(azure).toMatchObject({
    status: 'unconfigured',
    message: 'azure needs an address: set AZURE_OPENAI_RESOURCE or providers.azure.options.resource.',
  })
  const { body: bedrock } = await gateway.api('POST', `${providers}/bedrock/check`)
  expect(bedrock).toMatchObject({
    status: 'down',
    message: expect.stringMatching(/^The key for bedrock: expected an API key of Bedrock, /),
  })
})

it('a check is for admins, and of a provider that exists', async () => {
  const { key } = await gateway.signUp('prober')
  expect((await gateway.api('POST', `${providers}/openai/check`, undefined, key)).status).toBe(403)
  expect((await gateway.api('POST', `${providers}/nobody/check`)).status).toBe(404)
  const list = await gateway.api('GET', providers, undefined, key)
  expect(list.status).toBe(200)
  expect(JSON.stringify(list.body)).not.toMatch(/base_url|key_source/)
})

it('the models are listed as OpenAI lists them, each under the name that leads to its provider', async () => {
  const { key } = await gateway.signUp('lister')
  const { body } = await gateway.api('GET', '/v1/models', undefined, key)
  const owners = new Map(
    body.data.map(({ id, owned_by }: { id: string; owned_by: string }) => [id, owned_by]),
  )
  expect(body.object).toBe('list')
  expect(owners.get('gpt-4o')).toBe('openai')
  expect(owners.get('mock')).toBe('mock')
  const one = await gateway.api('GET', '/v1/models/gpt-4o', undefined, key)
  expect(one.body).toMatchObject({ id: 'gpt-4o', object: 'model', owned_by: 'openai' })
  expect(
    (await gateway.api('GET', `/v1/models/${encodeURIComponent('groq/llama')}`, undefined, key)).body,
  ).toMatchObject({
    id: 'groq/llama',
    owned_by: 'groq',
  })
  const unknown = await gateway.api('GET', '/v1/models/gpx-4o', undefined, key)
  expect(unknown.status).toBe(404)
  expect(unknown.body.error.message).toContain('gpt-4o')
})

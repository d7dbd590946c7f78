import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

const base = '/api/proxy/modules/outputcap/bindings'

let upstream: Upstream
let folder: string
let gateway: TestGateway

const start = (modules: Record<string, unknown> = {}) =>
  startGateway({ upstream, dataDir: path.join(folder, 'data'), config: { modules } })

beforeAll(async () => {
  upstream = await startUpstream()
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-bindings-'))
  gateway = await start()
})

beforeEach(async () => {
  upstream.reset()
  await gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 100 } })
})

afterEach(async () => {
  const { body } = await gateway.api('GET', base)
  for (const { name } of body.bindings) await gateway.api('DELETE', `${base}/${name}`)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

async function sentTokens(project = 'default'): Promise<unknown> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminKey}`,
      'content-type': 'application/json',
      'x-project': project,
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      max_tokens: 900,
      messages: [{ role: 'user', content: 'hi' }],
    }),
  })
  expect(response.status).toBe(200)
  return (upstream.last().body as { max_tokens?: number }).max_tokens
}

const bind = (body: Record<string, unknown>) => gateway.api('POST', base, body)

test('a binding acts for its calls, beside the module whose own configuration acts for all', async () => {
  const { status, body } = await bind({
    name: 'docs',
    config: { default_max_tokens: 10 },
    when: { projects: ['docs'] },
  })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    name: 'docs',
    module: 'outputcap',
    enabled: true,
    state: 'active',
    in_chain: true,
  })
  expect(await sentTokens('docs')).toBe(10)
  expect(await sentTokens()).toBe(100)
  expect((await gateway.api('GET', '/api/proxy/modules/outputcap')).body.bindings).toEqual(['docs'])
  expect((await gateway.api('GET', `${base}/docs`)).body.stats.calls).toBe(1)
})

test('each call is told of by the binding that acted, in its trace and when it is explained', async () => {
  await bind({ name: 'docs', config: { default_max_tokens: 10 }, when: { projects: ['docs'] } })
  await sentTokens('docs')
  const { body } = await gateway.api('POST', '/api/proxy/chain/explain', {
    request: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
  })
  const link = body.modules.find(({ name }: { name: string }) => name === 'outputcap/docs')
  expect(link).toMatchObject({ outcome: 'skipped', condition: 'projects' })
  const trace = async () =>
    (await gateway.api('GET', '/api/observe/traces?limit=1&project=docs')).body.traces[0]
  await expect.poll(trace).toBeDefined()
  const { body: detail } = await gateway.api('GET', `/api/observe/traces/${(await trace()).id}`)
  const verdicts = detail.modules.filter(({ verdict }: { verdict: string }) => verdict === 'clamped')
  expect(verdicts.map(({ module }: { module: string }) => module)).toEqual(['outputcap', 'outputcap/docs'])
})

test('bindings stand beside their module in the order of their names, or in the order that is asked for', async () => {
  await bind({ name: 'b', config: { default_max_tokens: 20 } })
  await bind({ name: 'a', config: { default_max_tokens: 30 } })
  const order = async () => {
    const { chain } = (await gateway.api('GET', '/api/proxy/chain')).body
    const names = chain.map(({ name }: { name: string }) => name)
    return names.filter((name: string) => name.startsWith('outputcap'))
  }
  expect(await order()).toEqual(['outputcap', 'outputcap/a', 'outputcap/b'])
  await gateway.api('PUT', `${base}/b`, { order: -1 })
  expect(await order()).toEqual(['outputcap/b', 'outputcap', 'outputcap/a'])
  await gateway.module('outputcap', { order: -5 })
  expect(await order()).toEqual(['outputcap', 'outputcap/a', 'outputcap/b'])
  await gateway.module('outputcap', { order: null })
})

test('the module switches all of its bindings; each switches itself', async () => {
  await bind({ name: 'docs', config: { default_max_tokens: 10 } })
  await gateway.module('outputcap', { enabled: false })
  expect(await sentTokens()).toBe(900)
  expect((await gateway.api('GET', `${base}/docs`)).body).toMatchObject({ enabled: true, state: 'disabled' })
  await gateway.module('outputcap', { enabled: true })
  expect(await sentTokens()).toBe(10)
  await gateway.api('PUT', `${base}/docs`, { enabled: false })
  expect(await sentTokens()).toBe(100)
})

test('what cannot be is refused, and changes nothing', async () => {
  await bind({ name: 'docs', config: { default_max_tokens: 10 } })
  expect((await bind({ name: 'docs' })).status).toBe(409)
  expect((await bind({ name: 'Not A Name' })).status).toBe(400)
  expect((await bind({ name: 'bad', config: { no_such_setting: 1 } })).status).toBe(400)
  expect((await gateway.api('PUT', `${base}/docs`, { config: { default_max_tokens: 'many' } })).status).toBe(
    400,
  )
  expect((await gateway.api('PUT', `${base}/none`, { enabled: false })).status).toBe(404)
  expect((await gateway.api('PUT', `${base}/docs`, {})).status).toBe(400)
  expect((await gateway.api('DELETE', `${base}/none`)).status).toBe(404)
  expect((await gateway.api('GET', '/api/proxy/modules/none/bindings')).status).toBe(404)
  const bad = { enabled: false, config: { default_max_tokens: 'many' } }
  expect((await gateway.api('PUT', `${base}/docs`, bad)).status).toBe(400)
  expect((await gateway.api('GET', base)).body).toMatchObject({ total: 1, bindings: [{ enabled: true }] })
  expect(await sentTokens()).toBe(10)
})

test('a module that offers what can exist once takes no second configuration, and says so', async () => {
  const { status, body } = await gateway.api('POST', '/api/proxy/modules/keypool/bindings', {
    name: 'second',
  })
  expect(status).toBe(409)
  expect(body.error.message).toMatch(/keypool.*key-selection/)
  expect((await gateway.api('GET', '/api/proxy/modules/keypool/bindings')).body.total).toBe(0)
})

test('what a binding reported is told', async () => {
  const at = '/api/proxy/modules/secretscan/bindings'
  await gateway.module('secretscan', { enabled: true, config: { request: 'off', response: 'off' } })
  await gateway.api('POST', at, { name: 'strict', config: { request: 'block' } })
  const answer = await gateway.api('POST', '/v1/chat/completions', {
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'ghp_0123456789abcdefghijklmnopqrstuvwxyz' }],
  })
  expect(answer.body.error.module).toBe('secretscan/strict')
  const { body } = await gateway.api('GET', `${at}/strict/events`)
  expect(body.events.map(({ kind }: { kind: string }) => kind)).toContain('refused')
  expect((await gateway.api('GET', '/api/proxy/modules/secretscan/events')).body.total).toBe(0)
  await gateway.api('DELETE', `${at}/strict`)
  await gateway.module('secretscan', { enabled: false, config: { request: null, response: null } })
})

test('two bindings count apart', async () => {
  const at = '/api/proxy/modules/rateshield/bindings'
  const config = { rules: [{ per: 'global', rpm: 1 }] }
  await gateway.api('POST', at, { name: 'one', config, when: { projects: ['one'] } })
  await gateway.api('POST', at, { name: 'two', config, when: { projects: ['two'] } })
  await sentTokens('one')
  await sentTokens('two')
  await expect(sentTokens('one')).rejects.toThrow()
  for (const name of ['one', 'two']) await gateway.api('DELETE', `${at}/${name}`)
})

test('bindings survive a restart; those of the file are there, and cannot be removed at runtime', async () => {
  await bind({ name: 'kept', config: { default_max_tokens: 33 }, when: { projects: ['kept'] } })
  await gateway.close()
  gateway = await start({
    outputcap: { bindings: { filed: { config: { default_max_tokens: 44 }, when: { projects: ['filed'] } } } },
  })
  expect(await sentTokens('kept')).toBe(33)
  expect(await sentTokens('filed')).toBe(44)
  expect((await gateway.api('DELETE', `${base}/filed`)).status).toBe(409)
  expect((await gateway.api('PUT', `${base}/filed`, { enabled: false })).status).toBe(200)
  expect(await sentTokens('filed')).toBe(100)
})

test('a removed binding is gone, with its settings', async () => {
  await bind({ name: 'docs', config: { default_max_tokens: 10 } })
  const { status, body } = await gateway.api('DELETE', `${base}/docs`)
  expect({ status, body }).toEqual({ status: 200, body: { deleted: true, id: 'outputcap/docs' } })
  expect(await sentTokens()).toBe(100)
  await bind({ name: 'docs' })
  expect((await gateway.api('GET', `${base}/docs`)).body.config).toEqual({})
})

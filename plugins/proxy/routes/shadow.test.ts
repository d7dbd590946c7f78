import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    config: {
      modules: { ipfence: { enabled: true, mode: 'shadow', config: { scope: 'all', deny: ['0.0.0.0/0'] } } },
    },
  })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const secret = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`

async function call(content = 'hi') {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  })
  await response.text()
  const at = `/api/observe/traces/${response.headers.get('x-trace-id')}`
  await expect.poll(async () => (await gateway.api('GET', at)).status).toBe(200)
  return {
    response,
    trace: (await gateway.api('GET', at)).body,
    told: (await gateway.api('GET', `${at}/explain`)).body,
  }
}

const of = (list: { module?: string; name?: string }[], id: string) =>
  list.filter(({ module, name }) => (module ?? name) === id)

test('a guard in shadow lets everything through, and the trace says what it would have done', async () => {
  await gateway.module('secretscan', { enabled: true, mode: 'shadow' })
  const { response, trace, told } = await call(`my token ${secret}`)
  expect(response.status).toBe(200)
  expect(upstream.last().rawBody).toContain(secret)
  const verdicts = of(trace.modules, 'secretscan') as { mode: string; verdict: string }[]
  expect(verdicts.map(({ mode }) => mode)).toEqual(verdicts.map(() => 'shadow'))
  expect(verdicts.map(({ verdict }) => verdict)).toContain('refused')
  expect(of(told.modules, 'secretscan')).toMatchObject([{ mode: 'shadow', outcome: 'ran' }])
  expect(of(told.modules, 'retrypilot')).toMatchObject([{ outcome: 'passive' }])
  expect((await gateway.api('GET', '/api/proxy/modules/secretscan')).body).toMatchObject({
    mode: 'shadow',
    in_chain: true,
  })
  await gateway.module('secretscan', { mode: null })
  expect((await call(`my token ${secret}`)).response.status).toBe(400)
  await gateway.module('secretscan', { enabled: false })
})

test('stricter settings can be tried as a binding in shadow, beside those that hold', async () => {
  await gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 100 } })
  const { status } = await gateway.api('POST', '/api/proxy/modules/outputcap/bindings', {
    name: 'trial',
    mode: 'shadow',
    config: { default_max_tokens: 10 },
  })
  expect(status).toBe(201)
  const { trace } = await call()
  expect(upstream.last().body).toMatchObject({ max_tokens: 100 })
  expect(of(trace.modules, 'outputcap')).toContainEqual(
    expect.objectContaining({ mode: 'enforce', verdict: 'clamped' }),
  )
  expect(of(trace.modules, 'outputcap/trial')).toContainEqual(
    expect.objectContaining({
      mode: 'shadow',
      verdict: 'clamped',
      detail: expect.objectContaining({ to: 10 }),
    }),
  )
  const { body } = await gateway.api('POST', '/api/proxy/chain/explain', {
    request: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
  })
  expect(of(body.modules, 'outputcap/trial')).toMatchObject([
    { mode: 'shadow', outcome: 'runs', changes: [] },
  ])
  await gateway.api('DELETE', '/api/proxy/modules/outputcap/bindings/trial')
  await gateway.module('outputcap', { enabled: false })
})

test('a limit in shadow counts, and refuses and shows nothing', async () => {
  await gateway.module('rateshield', { mode: 'shadow', config: { rules: [{ per: 'global', rpm: 1 }] } })
  await call()
  const { response, trace } = await call()
  expect(response.status).toBe(200)
  expect([...response.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([])
  expect(of(trace.modules, 'rateshield')).toContainEqual(
    expect.objectContaining({ verdict: 'refused', mode: 'shadow' }),
  )
  await gateway.module('rateshield', { mode: null, config: { rules: null } })
})

test('a fence in shadow shuts nobody out, not even who put it up, and counts whom it would have', async () => {
  expect((await gateway.api('GET', '/api/proxy/modules/ipfence')).body).toMatchObject({
    state: 'active',
    mode: 'shadow',
  })
  expect((await gateway.api('GET', '/api/proxy/modules/ipfence/stats')).body.refusals).toBeGreaterThan(0)
})

test('clients that leave in the middle of a stream leave nothing behind, whatever runs in shadow', async () => {
  const modules = ['cachelayer', 'secretscan', 'retrypilot', 'idlekill', 'streamsnap', 'structuredshield']
  for (const name of modules) await gateway.module(name, { enabled: true, mode: 'shadow' })
  upstream.reply({ content: Array.from({ length: 200 }, (_, n) => `word${n} `), gapMs: 5, times: 20 })
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const leaving = new AbortController()
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        signal: leaving.signal,
        headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'gpt-4o-mini',
          stream: true,
          messages: [{ role: 'user', content: 'hi' }],
        }),
      })
      await response.body!.getReader().read()
      leaving.abort()
    }),
  )
  await expect.poll(() => gateway.kernel.registry.generation.leases, { timeout: 4000 }).toBe(1)
  const failed = async (name: string) =>
    (await gateway.api('GET', `/api/proxy/modules/${name}/stats`)).body.errors
  for (const name of modules) expect({ name, errors: await failed(name) }).toEqual({ name, errors: 0 })
  for (const name of modules) await gateway.module(name, { mode: null })
})

test('a module whose effect does not go through hooks is not put in shadow, and stays as it was', async () => {
  const { status, body } = await gateway.api('PUT', '/api/proxy/modules/keypool', { mode: 'shadow' })
  expect(status).toBe(409)
  expect(body.error).toMatchObject({ param: 'mode', message: expect.stringContaining('key-selection') })
  expect((await gateway.api('GET', '/api/proxy/modules/keypool')).body).toMatchObject({
    state: 'active',
    mode: 'enforce',
  })
})

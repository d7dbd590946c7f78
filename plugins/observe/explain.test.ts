import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import type { TraceExplanation } from './explain/shapes.ts'

let upstream: Upstream
let folder: string
let gateway: TestGateway

const start = () =>
  startGateway({
    upstream,
    dataDir: path.join(folder, 'data'),
    config: { modules: { retrypilot: { config: { base_ms: 1 } } } },
  })

beforeAll(async () => {
  upstream = await startUpstream()
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-explain-'))
  gateway = await start()
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

/** Makes a call; resolves with its id once its trace is there. */
async function call(more: object = {}, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'tell me' }], ...more }),
  })
  await response.text()
  const id = response.headers.get('x-trace-id')!
  await expect.poll(async () => (await gateway.api('GET', `/api/observe/traces/${id}`)).status).toBe(200)
  return id
}

async function explain(id: string): Promise<TraceExplanation> {
  const { status, body } = await gateway.api('GET', `/api/observe/traces/${id}/explain`)
  expect(status).toBe(200)
  return body
}

const moduleOf = ({ modules }: TraceExplanation, name: string) =>
  modules.find((module) => module.name === name)

test('a call is explained: what ran and what it changed, what was skipped and why, and the price by class', async () => {
  await gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 50 } })
  await gateway.module('secretscan', { enabled: true, when: { projects: ['docs'] } })
  const told = await explain(await call({ max_tokens: 500 }))
  expect(told).toMatchObject({
    status: 'ok',
    arrangement: 'kept',
    generation: gateway.kernel.registry.generation.number,
    route: { provider: 'openai', attempts: [{ n: 1, provider: 'openai', status: 200 }] },
    price: { reproduced: true, items: [{ class: 'input' }, { class: 'output' }] },
  })
  expect(moduleOf(told, 'outputcap')).toMatchObject({
    outcome: 'ran',
    verdicts: [{ verdict: 'clamped' }],
    changes: [
      {
        of: 'request',
        path: 'max_tokens',
        before: { type: 'number', value: 500 },
        after: { type: 'number', value: 50 },
      },
    ],
  })
  const { body: trace } = await gateway.api('GET', `/api/observe/traces/${told.trace_id}`)
  const { version } = gateway.kernel.registry.get('outputcap').manifest!
  const capped = trace.modules.find(({ module }: { module: string }) => module === 'outputcap')
  expect(capped).toMatchObject({ version, verdict: 'clamped', changed: ['max_tokens'], bytes_delta: -1 })
  expect(moduleOf(told, 'outputcap')!.us).toBeGreaterThan(0)
  expect(moduleOf(told, 'secretscan')).toMatchObject({ outcome: 'skipped', condition: 'projects' })
  expect(moduleOf(told, 'ipfence')).toMatchObject({ outcome: 'off' })
  const { items, call_usd, total_usd } = told.price
  expect(items.reduce((sum, item) => sum + item.cost_usd, call_usd)).toBeCloseTo(total_usd!, 12)
  expect(JSON.stringify(told)).not.toContain('tell me')
})

test('a trace has the hash of the configuration that its call ran on, also after a change and a restart', async () => {
  const hashNow = async () => (await gateway.api('GET', '/api/config')).body.hash
  const hashOf = async (id: string) =>
    (await gateway.api('GET', `/api/observe/traces/${id}`)).body.config_hash
  await gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 51 } })
  const before = await hashNow()
  const id = await call()
  await expect.poll(() => hashOf(id)).toBe(before)
  await gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 52 } })
  const later = await call()
  await expect.poll(() => hashOf(later)).toBe(await hashNow())
  expect(await hashNow()).not.toBe(before)
  await gateway.close()
  gateway = await start()
  expect(await hashOf(id)).toBe(before)
  await gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 50 } })
})

test('modules keep their places in what is told of a call after they were changed, and after a restart', async () => {
  await gateway.module('secretscan', { enabled: true, when: null })
  const id = await call()
  const before = await explain(id)
  expect(moduleOf(before, 'secretscan')).toMatchObject({ outcome: 'ran' })
  await gateway.module('secretscan', { enabled: false })
  expect(await explain(id)).toEqual(before)
  await gateway.close()
  gateway = await start()
  expect(await explain(id)).toEqual(before)
  expect(moduleOf(await explain(await call()), 'secretscan')).toMatchObject({ outcome: 'off' })
})

test('a refused call tells who refused it and who was not reached', async () => {
  await gateway.module('secretscan', { enabled: true, when: null })
  const key = `ghp_${'a1B2c3D4e5F6g7H8i9J0'.repeat(2).slice(0, 36)}`
  const told = await explain(await call({ messages: [{ role: 'user', content: `my token ${key}` }] }))
  expect(moduleOf(told, 'secretscan')).toMatchObject({ outcome: 'ran' })
  expect(moduleOf(told, 'retrypilot')).toMatchObject({
    outcome: 'not_reached',
    reason: 'secretscan refused before the call got to it',
  })
  expect(JSON.stringify(told)).not.toContain(key)
  await gateway.module('secretscan', { enabled: false })
})

test('retries are told with their reasons', async () => {
  upstream.reply({ status: 500 })
  const told = await explain(await call())
  expect(told.route.attempts).toMatchObject([
    { n: 1, status: 500, reason_next: expect.stringContaining('retry') },
    { n: 2, status: 200 },
  ])
  expect(moduleOf(told, 'retrypilot')).toMatchObject({ outcome: 'ran' })
})

test('a call that is answered from the cache cost nothing, and what lies further in was not reached', async () => {
  await gateway.module('cachelayer', { enabled: true })
  await call({ seed: 4 })
  const told = await explain(await call({ seed: 4 }))
  expect(told).toMatchObject({
    status: 'cache_hit',
    route: { cache: { kind: 'exact' } },
    price: { total_usd: null, reason: 'the answer came from the cache' },
  })
  expect(moduleOf(told, 'cachelayer')).toMatchObject({ outcome: 'ran', verdicts: [{ verdict: 'answered' }] })
  expect(moduleOf(told, 'retrypilot')).toMatchObject({
    outcome: 'not_reached',
    reason: 'cachelayer answered before the call got to it',
  })
  await gateway.module('cachelayer', { enabled: false })
})

test("a user's key has the user's own calls explained, and no others", async () => {
  const { key } = await gateway.signUp('nosy')
  const id = await call()
  expect((await gateway.api('GET', `/api/observe/traces/${id}/explain`, undefined, key)).status).toBe(404)
})

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bareChain } from '../../../test/bare.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let folder: string

beforeAll(async () => {
  upstream = await startUpstream()
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-modules-'))
  await addModule('needsnothing', { stage: 'shape', failure: 'open' }, 'setup: () => ({})')
  await addModule(
    'breaks',
    { stage: 'shape', failure: 'open' },
    "setup: () => ({ request() { throw new Error('by design') } })",
  )
  await addModule('unborn', { stage: 'shape', failure: 'open' }, "setup() { throw new Error('no luck') }")
  await mkdir(path.join(folder, 'unreadable'))
  await writeFile(path.join(folder, 'unreadable', 'manifest.json'), '{')
  gateway = await startGateway({ upstream, config: { plugin_dirs: [folder] } })
  await bareChain(gateway)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true })
})

async function addModule(id: string, manifest: Record<string, string>, setup: string): Promise<void> {
  const about = { id, kind: 'module', version: '1.2.3', title: id, description: 'Of this test.', ...manifest }
  await mkdir(path.join(folder, id))
  await writeFile(path.join(folder, id, 'manifest.json'), JSON.stringify(about))
  const code = `import { z } from ${JSON.stringify(import.meta.resolve('zod'))}
    export default { settings: z.strictObject({}), ${setup} }`
  await writeFile(path.join(folder, id, 'index.js'), code)
}

const modules = '/api/proxy/modules'
const outputcap = `${modules}/outputcap`

async function call(body: Record<string, unknown> = {}): Promise<unknown> {
  const question = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], ...body }
  const { status, body: answer } = await gateway.api('POST', '/v1/chat/completions', question)
  expect(answer).toHaveProperty('choices')
  expect(status).toBe(200)
  return upstream.last().body
}

describe('a module', () => {
  it('acts on the very next call when it is switched on, with the settings it was given', async () => {
    expect(await call()).not.toHaveProperty('max_tokens')
    const on = await gateway.api('PUT', outputcap, { enabled: true, config: { default_max_tokens: 7 } })
    expect(on.status).toBe(200)
    expect(on.body).toMatchObject({ name: 'outputcap', enabled: true, state: 'active', in_chain: true })
    expect(on.body.config).toEqual({ default_max_tokens: 7 })
    expect(await call()).toMatchObject({ max_tokens: 7 })
    await gateway.api('PUT', outputcap, { config: { default_max_tokens: 9 } })
    expect(await call()).toMatchObject({ max_tokens: 9 })
    const off = await gateway.api('PUT', outputcap, { enabled: false })
    expect(off.body).toMatchObject({ enabled: false, state: 'disabled', in_chain: false })
    expect(await call()).not.toHaveProperty('max_tokens')
  })

  it('keeps what a change does not name, and drops what it sets to null', async () => {
    await gateway.api('PUT', outputcap, {
      config: { default_max_tokens: 5, rules: [{ max_tokens: 3 }] },
      order: 7,
    })
    const one = await gateway.api('PUT', outputcap, { config: { default_max_tokens: 6 } })
    expect(one.body.config).toEqual({ default_max_tokens: 6, rules: [{ max_tokens: 3 }] })
    expect(one.body.order).toBe(7)
    const two = await gateway.api('PUT', outputcap, { config: { rules: null }, order: null })
    expect(two.body).toMatchObject({ config: { default_max_tokens: 6 }, order: 0 })
    expect(two.body.config_effective).toEqual({ default_max_tokens: 6, rules: [] })
  })

  it('applies only where its conditions hold', async () => {
    const when = { models: ['gpt-4o-mini'] }
    await gateway.api('PUT', outputcap, {
      enabled: true,
      config: { default_max_tokens: 4, rules: null },
      when,
    })
    expect(await call()).not.toHaveProperty('max_tokens')
    expect(await call({ model: 'gpt-4o-mini' })).toMatchObject({ max_tokens: 4 })
    const cleared = await gateway.api('PUT', outputcap, { when: null })
    expect(cleared.body.when).toBeNull()
    expect(await call()).toMatchObject({ max_tokens: 4 })
    await gateway.api('PUT', outputcap, { enabled: false })
  })

  it('stays as it was when a change is not valid, and the answer names the field', async () => {
    await gateway.api('PUT', outputcap, { enabled: true, config: { default_max_tokens: 8 } })
    const bad = await gateway.api('PUT', outputcap, { config: { default_max_tokens: 'many' } })
    expect(bad.status).toBe(400)
    expect(bad.body.error).toMatchObject({ code: 'bad_request', param: 'config.default_max_tokens' })
    expect(await call()).toMatchObject({ max_tokens: 8 })
    const shown = await gateway.api('GET', outputcap)
    expect(shown.body).toMatchObject({ state: 'active', config: { default_max_tokens: 8 } })
    await gateway.api('PUT', outputcap, { enabled: false })
  })

  it.each([
    ['an unknown field', { enable: true }, 'enable'],
    ['an unknown setting', { config: { no_such: 1 } }, 'config'],
    ['an unknown condition', { when: { model: 'x' } }, 'when.model'],
    ['contains no change', {}, 'body'],
    ['an order out of range', { order: 5000 }, 'order'],
  ])('refuses %s', async (_, change, param) => {
    const { status, body } = await gateway.api('PUT', outputcap, change)
    expect(status).toBe(400)
    expect(body.error.param).toBe(param)
  })

  it('that cannot start refuses to be switched on and says why', async () => {
    const { status, body } = await gateway.api('PUT', `${modules}/unborn`, { enabled: true })
    expect(status).toBe(409)
    expect(body.error.message).toContain('no luck')
    const shown = await gateway.api('GET', `${modules}/unborn`)
    expect(shown.body).toMatchObject({ enabled: false, state: 'disabled', problem: 'no luck' })
  })

  it('that is not there is not found', async () => {
    for (const method of ['GET', 'PUT']) {
      const { status } = await gateway.api(
        method,
        `${modules}/nobody`,
        method === 'PUT' ? { enabled: true } : undefined,
      )
      expect(status).toBe(404)
    }
    expect((await gateway.api('PUT', `${modules}/openai`, { enabled: false })).status).toBe(404)
  })

  it('keeps its setting over a restart', async () => {
    const first = await startGateway({ upstream, dataDir: path.join(folder, 'data') })
    await first.module('outputcap', { enabled: true, config: { default_max_tokens: 11 } })
    await first.close()
    const second = await startGateway({ upstream, dataDir: path.join(folder, 'data') })
    const { body } = await second.api('GET', outputcap)
    await second.close()
    expect(body).toMatchObject({ enabled: true, state: 'active', config: { default_max_tokens: 11 } })
    expect(Date.parse(body.updated_at)).toBeGreaterThan(0)
  })
})

describe('the list of modules', () => {
  it('has every module in chain order, broken ones with their reason last', async () => {
    const { body } = await gateway.api('GET', modules)
    const names = body.modules.map(({ name }: { name: string }) => name)
    expect(names).toContain('outputcap')
    expect(names.at(-1)).toBe('unreadable')
    expect(body.total).toBe(names.length)
    expect(body.has_more).toBe(false)
    const readable = body.modules.filter(({ state }: { state: string }) => state !== 'invalid')
    const placed = readable.map(({ priority }: { priority: number }) => priority)
    expect(placed).toEqual(placed.map((_: number, i: number) => i + 1))
    expect(body.modules.at(-1)).toMatchObject({ problem: expect.stringContaining('manifest.json') })
    expect(body.modules.find(({ name }: { name: string }) => name === 'unborn')).toMatchObject({
      version: '1.2.3',
      source: 'local',
    })
  })

  it('pages and filters', async () => {
    const { body } = await gateway.api('GET', `${modules}?limit=1&offset=1`)
    expect(body).toMatchObject({ limit: 1, offset: 1, has_more: true, modules: [{ priority: 2 }] })
    const shaping = await gateway.api('GET', `${modules}?category=shape&enabled=false`)
    expect(shaping.body.modules.map(({ name }: { name: string }) => name)).toContain('unborn')
    expect(new Set(shaping.body.modules.map(({ category }: { category: string }) => category))).toEqual(
      new Set(['shape']),
    )
    expect(shaping.body.enabled).toBe(0)
  })

  it('tells a user names and states, and no settings', async () => {
    await gateway.api('PUT', outputcap, { config: { default_max_tokens: 1234 } })
    const { key } = await gateway.signUp('reader')
    for (const at of [modules, outputcap]) {
      const { status, body } = await gateway.api('GET', at, undefined, key)
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toMatch(/1234|config|"stats"|problem/)
      expect(JSON.stringify(body)).toContain('"outputcap"')
    }
  })

  it('is changed by admins only, and read by nobody without a key', async () => {
    const { key } = await gateway.signUp('meddler')
    expect((await gateway.api('PUT', outputcap, { enabled: true }, key)).status).toBe(403)
    expect(
      (await gateway.api('POST', `${modules}/bulk`, { modules: ['outputcap'], enabled: true }, key)).status,
    ).toBe(403)
    expect((await fetch(gateway.url + modules)).status).toBe(401)
    expect((await gateway.api('PUT', outputcap, { enabled: true }, 'sy_nobody')).status).toBe(401)
    expect((await gateway.api('GET', outputcap)).body.enabled).toBe(false)
  })
})

describe('a bulk change', () => {
  const bulk = (body: unknown) => gateway.api('POST', `${modules}/bulk`, body)

  it('changes each module wholly or not at all, and says which could not', async () => {
    const { status, body } = await bulk({ modules: ['needsnothing', 'unborn', 'nobody'], enabled: true })
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'partial', affected: 1, enabled: true })
    expect(body.results).toMatchObject([
      { name: 'needsnothing', status: 'ok', state: 'active' },
      { name: 'unborn', status: 'failed', error: { code: 'bad_request' } },
      { name: 'nobody', status: 'failed', error: { code: 'not_found' } },
    ])
    expect((await gateway.api('GET', `${modules}/needsnothing`)).body).toMatchObject({
      enabled: true,
      in_chain: false,
      warnings: [expect.stringContaining('nothing to do')],
    })
  })

  it('takes a whole category', async () => {
    const { body } = await bulk({ category: 'shape', enabled: false })
    const inStage = await gateway.api('GET', `${modules}?category=shape`)
    expect(body).toMatchObject({ status: 'ok', affected: inStage.body.total })
    expect(inStage.body.enabled).toBe(0)
  })

  it('is one of the generation that it is wanted of, whichever of its modules is the first to change', async () => {
    const { generation } = gateway.kernel.registry
    const body = { modules: ['nobody', 'outputcap', 'costcap'], enabled: true }
    const stale = await bulk({ ...body, if_generation: generation.number - 1 })
    expect([stale.status, stale.body.error.param]).toEqual([409, 'if_generation'])
    expect(gateway.kernel.registry.generation.number).toBe(generation.number)
    expect((await bulk({ ...body, if_generation: generation.number })).body.affected).toBe(2)
  })

  it.each([
    [{ enabled: true }],
    [{ modules: ['outputcap'], category: 'limits', enabled: true }],
    [{ category: 'no-such', enabled: true }],
    [{ modules: [], enabled: true }],
    [{ modules: ['outputcap'] }],
  ])('refuses %j', async (body) => {
    expect((await bulk(body)).status).toBe(400)
  })
})

describe("a module's record", () => {
  it('counts its runs and failures, keeps its events, and is set to zero', async () => {
    await gateway.module('breaks', { enabled: true })
    await call()
    await call()
    const stats = await gateway.api('GET', `${modules}/breaks/stats`)
    expect(stats.body).toMatchObject({
      name: 'breaks',
      calls: 2,
      errors: 2,
      hooks: [{ hook: 'request', calls: 2 }],
    })
    expect(stats.body.p99_us).toBeGreaterThan(0)
    const events = await gateway.api('GET', `${modules}/breaks/events?limit=1`)
    expect(events.body).toMatchObject({
      total: 2,
      has_more: true,
      events: [{ kind: 'failed', detail: 'request: Error' }],
    })
    const reset = await gateway.api('POST', `${modules}/breaks/reset`)
    expect(reset.body).toMatchObject({ calls: 0, errors: 0, hooks: [] })
    expect((await gateway.api('GET', `${modules}/breaks/events`)).body.total).toBe(0)
    await gateway.module('breaks', { enabled: false })
  })

  it('has a schema from which a form can be made', async () => {
    const { body } = await gateway.api('GET', `${outputcap}/schema`)
    expect(body).toMatchObject({
      type: 'object',
      additionalProperties: false,
      properties: { default_max_tokens: { title: 'Default cap', minimum: 1 } },
    })
    expect((await gateway.api('GET', outputcap)).body.config_schema).toEqual(body)
  })
})

describe('the chain', () => {
  it('shows who acts on calls, in order, with hooks and reasons', async () => {
    await gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 5 }, order: 3 })
    await gateway.module('breaks', { enabled: true })
    await gateway.module('needsnothing', { enabled: true })
    const { body } = await gateway.api('GET', '/api/proxy/chain')
    const names = body.chain.map(({ name }: { name: string }) => name)
    expect(names).not.toContain('needsnothing')
    expect(names.indexOf('outputcap')).toBeLessThan(names.indexOf('breaks'))
    expect(body.chain.map(({ order }: { order: number }) => order)).toEqual(
      names.map((_: string, i: number) => i + 1),
    )
    expect(body.total).toBe(names.length)
    expect(body.chain[names.indexOf('outputcap')]).toMatchObject({
      phase: 'limits',
      hooks: ['request', 'stream'],
      reason: 'stage limits, order 3',
    })
    const { generation } = body
    await gateway.module('breaks', { enabled: false })
    expect((await gateway.api('GET', '/api/proxy/chain')).body.generation).toBeGreaterThan(generation)
  })
})

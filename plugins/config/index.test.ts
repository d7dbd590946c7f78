import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { moduleCode, writePlugin } from '../../test/plugin-folder.ts'

let folder: string
let gateway: TestGateway

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-config-'))
  const manifest = { id: 'gone', enabled: true }
  await writePlugin(path.join(folder, 'plugins'), 'gone', {
    manifest,
    files: { 'index.js': moduleCode('return {}') },
  })
  gateway = await start()
})

afterAll(async () => {
  await gateway.close()
  await rm(folder, { recursive: true })
})

const start = () =>
  startGateway({
    dataDir: path.join(folder, 'data'),
    config: {
      plugin_dirs: [path.join(folder, 'plugins')],
      providers: { other: { type: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: 'k' } },
      modules: { outputcap: { config: { default_max_tokens: 100 } } },
    },
  })

const module = (change: object, name = 'outputcap') =>
  gateway.api('PUT', `/api/proxy/modules/${name}`, change)
const bindings = '/api/proxy/modules/outputcap/bindings'
const routes = (table: unknown) => gateway.api('PUT', '/api/proxy/routes', { routes: table })
const history = async (query = '') =>
  (await gateway.api('GET', `/api/config/history${query}`)).body.generations
const last = async () => (await history('?limit=1'))[0]
const number = async (): Promise<number> => (await last()).generation
const rollback = (generation: number, more = {}) =>
  gateway.api('POST', '/api/config/rollback', { generation, ...more })

/** All that was set at runtime, as routes tell it. */
async function configured() {
  const settings = async (at: string) => {
    const { enabled, config, when, order, mode } = (await gateway.api('GET', at)).body
    return { enabled, config, when, order, mode }
  }
  const bound = (await gateway.api('GET', bindings)).body.bindings
  return {
    outputcap: await settings('/api/proxy/modules/outputcap'),
    idlekill: await settings('/api/proxy/modules/idlekill'),
    bindings: bound.map(({ name, enabled, config, order }: Record<string, unknown>) => ({
      name,
      enabled,
      config,
      order,
    })),
    routes: (await gateway.api('GET', '/api/proxy/routes')).body.routes,
  }
}

test('each change through each route is an entry with its number, its actor, before and after', async () => {
  const first = await number()
  const answer = await module({ enabled: true, config: { default_max_tokens: 7 } })
  await gateway.api('POST', '/api/proxy/modules/bulk', { modules: ['outputcap'], enabled: false })
  await gateway.api('PUT', '/api/plugins/outputcap', { enabled: true })
  await gateway.api('POST', bindings, { name: 'docs', config: { default_max_tokens: 3 } })
  await gateway.api('PUT', `${bindings}/docs`, { enabled: false })
  await gateway.api('DELETE', `${bindings}/docs`)
  await routes([{ match: 'a', provider: 'other' }])
  await routes(null)
  const entries = (await history('?limit=8')).toReversed()
  expect(entries.map(({ generation }: { generation: number }) => generation - first)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8,
  ])
  const [outputcap, docs] = [
    { section: 'modules', key: 'outputcap' },
    { section: 'bindings', key: 'outputcap/docs' },
  ]
  const table = { section: 'routes', key: 'table' }
  const config = { default_max_tokens: 7 }
  const rule = { match: 'a', provider: 'other', model: null, priority: 0 }
  const version = expect.any(String)
  expect(entries.map(({ changes }: { changes: unknown }) => changes)).toEqual([
    [{ ...outputcap, before: null, after: { enabled: true, config, version } }],
    [
      {
        ...outputcap,
        before: { enabled: true, config, version },
        after: { enabled: false, config, version },
      },
    ],
    [
      {
        ...outputcap,
        before: { enabled: false, config, version },
        after: { enabled: true, config, version },
      },
    ],
    [{ ...docs, before: null, after: { config: { default_max_tokens: 3 }, version } }],
    [
      {
        ...docs,
        before: { config: { default_max_tokens: 3 }, version },
        after: { enabled: false, config: { default_max_tokens: 3 }, version },
      },
    ],
    [{ ...docs, before: { enabled: false, config: { default_max_tokens: 3 }, version }, after: null }],
    [{ ...table, before: null, after: [rule] }],
    [{ ...table, before: [rule], after: null }],
  ])
  expect(entries[0]).toMatchObject({
    kind: 'change',
    actor: { type: 'admin', key_id: expect.any(String) },
    request_id: answer.headers.get('x-request-id'),
    to: null,
  })
  expect((await gateway.api('GET', `/api/config/history/${first + 1}`)).body).toEqual(entries[0])
  expect((await gateway.api('GET', `/api/config/history/${first + 100}`)).status).toBe(404)
})

test('what is refused has no number, and what calls run on has that of its change', async () => {
  const before = await number()
  expect((await module({ config: { default_max_tokens: 'many' } })).status).toBe(400)
  expect(await number()).toBe(before)
  expect((await module({ config: { default_max_tokens: 8 } })).status).toBe(200)
  expect([await number(), gateway.kernel.registry.generation.number]).toEqual([before + 1, before + 1])
  await routes(null)
  expect([await number(), gateway.kernel.registry.generation.number]).toEqual([before + 2, before + 2])
})

test('of two changes from one base the second is 409, by whichever route', async () => {
  await gateway.api('POST', bindings, { name: 'kept' })
  const if_generation = await number()
  expect((await module({ config: { default_max_tokens: 9 }, if_generation })).status).toBe(200)
  const late = await module({ config: { default_max_tokens: 10 }, if_generation })
  expect([late.status, late.body.error]).toMatchObject([
    409,
    { param: 'if_generation', details: { generation: if_generation + 1 } },
  ])
  const stale = [
    gateway.api('PUT', '/api/proxy/routes', { routes: null, if_generation }),
    gateway.api('POST', bindings, { name: 'late', if_generation }),
    gateway.api('PUT', '/api/plugins/outputcap', { enabled: false, if_generation }),
    rollback(if_generation, { if_generation }),
    gateway.api('POST', '/api/proxy/modules/bulk', { modules: ['outputcap'], enabled: false, if_generation }),
    gateway.api('DELETE', `${bindings}/kept?if_generation=${if_generation}`),
  ]
  expect((await Promise.all(stale)).map(({ status }) => status)).toEqual(Array(stale.length).fill(409))
  expect(await number()).toBe(if_generation + 1)
  const removed = await gateway.api('DELETE', `${bindings}/kept?if_generation=${if_generation + 1}`)
  expect(removed.status).toBe(200)
})

test('100 toggles at a time are 100 numbers', async () => {
  const before = await number()
  const toggles = Array.from({ length: 100 }, (_, n) => module({ enabled: n % 2 === 0 }))
  expect(new Set((await Promise.all(toggles)).map(({ status }) => status))).toEqual(new Set([200]))
  const entries = await history('?limit=100')
  expect(entries.map(({ generation }: { generation: number }) => generation)).toEqual(
    Array.from({ length: 100 }, (_, n) => before + 100 - n),
  )
  const after = entries
    .toReversed()
    .map(({ changes }: { changes: { after: unknown }[] }) => changes[0]!.after)
  const befores = entries
    .toReversed()
    .map(({ changes }: { changes: { before: unknown }[] }) => changes[0]!.before)
  expect(befores.slice(1)).toEqual(after.slice(0, -1))
})

test('a rollback brings back settings, bindings that were removed and routes, as one generation', async () => {
  await module({ enabled: true, config: { default_max_tokens: 20 }, order: 3 })
  await gateway.api('POST', bindings, { name: 'kept', config: { default_max_tokens: 4 }, order: 2 })
  await gateway.api('POST', bindings, { name: 'removed', config: { default_max_tokens: 5 } })
  await routes([{ match: 'before', provider: 'other' }])
  const base = await number()
  const before = await configured()

  await module({ enabled: false, config: { default_max_tokens: 21 }, order: null })
  await module({ enabled: true, config: { max_seconds: 5 } }, 'idlekill')
  await gateway.api('DELETE', `${bindings}/removed`)
  await gateway.api('PUT', `${bindings}/kept`, { enabled: false, config: { default_max_tokens: 6 } })
  await gateway.api('POST', bindings, { name: 'new' })
  await routes([{ match: 'after', provider: 'other' }])
  const after = await configured()
  expect(after).not.toEqual(before)
  const changed = await number()

  const back = await rollback(base)
  expect([back.status, back.body.generation]).toEqual([200, changed + 1])
  expect(await configured()).toEqual(before)
  expect(await last()).toMatchObject({
    generation: changed + 1,
    kind: 'rollback',
    to: base,
    changes: expect.any(Array),
  })
  expect(back.body.changes).toHaveLength((await last()).changes.length)

  expect((await rollback(changed)).status).toBe(200)
  expect(await configured()).toEqual(after)
  await gateway.close()
  gateway = await start()
  expect(await configured()).toEqual(after)
  expect(await last()).toMatchObject({ generation: changed + 3, kind: 'start', changes: [] })
  await rollback(base)
  expect(await configured()).toEqual(before)
})

test('a rollback that would lock its caller out is refused, and changes nothing', async () => {
  const strict = { enabled: true, config: { scope: 'all', deny: ['127.0.0.0/8'] } }
  expect((await module({ ...strict, force: true }, 'ipfence')).status).toBe(200)
  const locked = gateway.kernel.registry.generation.number
  await gateway.kernel.registry.change('ipfence', { enabled: false })
  const before = await number()
  const refused = await rollback(locked)
  expect([refused.status, refused.body.error.param]).toEqual([409, 'force'])
  expect(await number()).toBe(before)
  expect((await gateway.api('GET', '/api/proxy/modules/ipfence')).body.enabled).toBe(false)
})

test('a rollback that a plugin refuses changes nothing', async () => {
  await module({ enabled: true, config: { default_max_tokens: 30 } })
  const base = await number()
  await module({ config: { default_max_tokens: 31 } })
  await gateway.api('PUT', '/api/plugins/gone', { enabled: false })
  const changed = await number()
  await rm(path.join(folder, 'plugins', 'gone'), { recursive: true })
  await gateway.api('POST', '/api/plugins/rescan')
  const { body, status } = await rollback(base)
  expect([status, body.changes.map(({ key }: { key: string }) => key).sort()]).toEqual([
    200,
    ['gone', 'outputcap'],
  ])
  expect((await history('?limit=2'))[1].changes[0]).toMatchObject({
    section: 'code',
    key: 'gone',
    after: null,
  })
  expect(await number()).toBe(changed + 2)
  const forgotten = await gateway.api('DELETE', '/api/plugins/gone/settings')
  expect(forgotten.status).toBe(404)
})

test('only admins see the history', async () => {
  const { key } = await gateway.signUp()
  expect((await gateway.api('GET', '/api/config/history', undefined, key)).status).toBe(403)
  expect((await gateway.api('POST', '/api/config/rollback', { generation: 1 }, key)).status).toBe(403)
})

test('pages of the history pass over as many generations as they are told, from the beginning or from a cursor', async () => {
  const numbers = async (query: string) => {
    const { status, body } = await gateway.api('GET', `/api/config/history?${query}`)
    expect(status).toBe(200)
    return {
      cursor: body.next_cursor,
      all: body.generations.map((one: { generation: number }) => one.generation),
    }
  }
  const { all } = await numbers('limit=6')
  const first = await numbers('limit=2')
  expect(first.all).toEqual(all.slice(0, 2))
  expect((await numbers(`limit=2&offset=1&cursor=${first.cursor}`)).all).toEqual(all.slice(3, 5))
  expect((await numbers('limit=2&offset=500')).all).toEqual([])
  for (const cursor of ['x', '-1', '1e9', '999999']) {
    const { status, body } = await gateway.api('GET', `/api/config/history?cursor=${cursor}`)
    expect([status, body.error.param]).toEqual([400, 'cursor'])
  }
})

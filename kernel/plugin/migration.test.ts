import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkPlugin } from '../../test/conformance/check.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { writePlugin } from '../../test/plugin-folder.ts'

let folder: string
let dataDir: string
let gateway: TestGateway

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-migrated-'))
  dataDir = path.join(folder, 'data')
})

afterEach(async () => {
  await gateway.close()
  await rm(folder, { recursive: true, force: true })
})

async function start(modules: object = {}): Promise<void> {
  gateway = await startGateway({ dataDir, config: { plugin_dirs: [path.join(folder, 'mine')], modules } })
}

/** A version of the module: its settings, how it carries older ones over, and that it says what it runs with. */
const put = (version: string, settings: string, migrate = '') =>
  writePlugin(path.join(folder, 'mine'), 'caps', {
    manifest: { version },
    files: {
      'index.js': `import { z } from 'zod'
export default {
  settings: z.strictObject({ ${settings} }),
  ${migrate && `migrate: ${migrate},`}
  setup(ctx) {
    const name = 'x-' + ctx.id.replace('/', '-')
    return { request(call) { call.trace.header(name, JSON.stringify(ctx.settings)) } }
  },
}`,
    },
  })

const one = () => put('1.0.0', 'limit: z.number().optional(), name: z.string().optional()')
const two = (migrate?: string) =>
  put('2.0.0', 'max_items: z.number().optional(), name: z.string().optional()', migrate)
const rename = '({ limit, ...rest }) => ({ ...rest, ...(limit === undefined ? {} : { max_items: limit }) })'

const set = (config: object | null, more: object = {}) =>
  gateway.api('PUT', '/api/plugins/caps', { enabled: true, config, ...more })
const reload = () => gateway.api('POST', '/api/plugins/caps/reload')
const stored = () => gateway.kernel.registry.get('caps').stored

/** The settings that the module, or a binding of it, runs with. */
async function settings(of = 'caps'): Promise<unknown> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}` },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
  })
  await response.text()
  return JSON.parse(response.headers.get(`x-${of}`) ?? 'null')
}

test('a version that renamed a setting carries over what was set, once, and says so', async () => {
  Object.assign(globalThis, { migratedForTest: [] })
  await one()
  await start()
  await set({ limit: 3, name: 'n' })
  await two(
    `(settings, from) => { globalThis.migratedForTest.push([settings, from]); return (${rename})(settings) }`,
  )
  expect(await reload()).toMatchObject({ status: 200, body: { reloaded: true, problem: null } })
  expect(await settings()).toEqual({ max_items: 3, name: 'n' })
  expect(stored()).toMatchObject({ config: { max_items: 3, name: 'n' }, version: '2.0.0' })
  const { body } = await gateway.api('GET', '/api/proxy/modules/caps/events')
  expect(body.events[0]).toMatchObject({
    kind: 'migrated',
    detail: expect.stringContaining('1.0.0 to 2.0.0'),
  })
  const lines = gateway.logged
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg.includes('carried over'))
  expect(lines).toMatchObject([{ level: 'info', plugin: 'caps', from: '1.0.0', to: '2.0.0' }])

  await set({ name: 'other' })
  await gateway.close()
  await start()
  expect(await settings()).toEqual({ max_items: 3, name: 'other' })
  const asked = (globalThis as { migratedForTest?: unknown }).migratedForTest
  expect(asked).toEqual([[{ limit: 3, name: 'n' }, '1.0.0']])
})

test('a version that comes while the gateway is stopped carries over at its start, bindings too', async () => {
  await one()
  await start()
  await set({ limit: 3 })
  await gateway.api('POST', '/api/proxy/modules/caps/bindings', { name: 'b', config: { limit: 4 } })
  await gateway.close()
  await two(rename)
  await start()
  expect([await settings(), await settings('caps-b')]).toEqual([{ max_items: 3 }, { max_items: 4 }])
})

test('going back to the version before gives what that one had', async () => {
  await one()
  await start()
  await set({ limit: 3 })
  await two(rename)
  await reload()
  await one()
  expect(await reload()).toMatchObject({ status: 200, body: { version: '1.0.0', problem: null } })
  expect(await settings()).toEqual({ limit: 3 })
  await two(rename)
  await reload()
  expect(await settings()).toEqual({ max_items: 3 })
})

test.each([
  ['has no migrate', undefined, 'Unrecognized key: "limit"'],
  ['throws in migrate', `() => { throw new Error('no way') }`, 'no way'],
  ['returns nothing from migrate', '() => undefined', 'migrate must return an object'],
  ['returns what its schema refuses', `() => ({ max_items: 'three' })`, 'expected number'],
  ['returns what cannot be stored', '() => ({ max_items: () => 3 })', 'could not be cloned'],
])('a version that dropped a setting and %s is refused, and nothing changes', async (_, migrate, why) => {
  await one()
  await start()
  await set({ limit: 3 })
  const before = stored()
  await two(migrate)
  const refused = await reload()
  expect(refused).toMatchObject({ status: 409, body: { error: { message: expect.stringContaining(why) } } })
  expect(refused.body.error.message).toContain('keeps its version')
  expect(stored()).toEqual(before)
  expect(await settings()).toEqual({ limit: 3 })
  expect((await gateway.api('POST', '/api/plugins/rescan')).body.failed).toMatchObject([{ name: 'caps' }])
  await gateway.close()
  await start()
  expect((await gateway.api('GET', '/api/plugins/caps')).body).toMatchObject({ state: 'failed' })
  await two(rename)
  expect(await reload()).toMatchObject({ status: 200, body: { state: 'active' } })
  expect(await settings()).toEqual({ max_items: 3 })
})

test('what is switched off is not asked before it is switched on or set, and what was cleared stays so', async () => {
  await one()
  await start({ caps: { config: { name: 'of the file' } } })
  await set({ limit: 3, name: null }, { enabled: false })
  await two(rename)
  await reload()
  expect(stored()).toMatchObject({ version: '1.0.0', config: { limit: 3, name: null } })
  expect((await gateway.api('PUT', '/api/plugins/caps', { config: { name: 'set' } })).status).toBe(200)
  expect(stored()).toMatchObject({ version: '2.0.0', config: { max_items: 3, name: 'set' } })
  await gateway.api('PUT', '/api/plugins/caps', { enabled: true, config: { name: null } })
  expect(await settings()).toEqual({ max_items: 3 })
})

test('a module in a worker carries over there, and is refused as in the process', async () => {
  await one()
  await start()
  await set({ limit: 3 }, { isolation: 'worker' })
  await two(`() => { throw new Error('no way') }`)
  expect(await reload()).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining('no way') } },
  })
  expect(await settings()).toEqual({ limit: 3 })
  await two(rename)
  expect((await reload()).status).toBe(200)
  expect(await settings()).toEqual({ max_items: 3 })
})

test('the kit holds a plugin to what its migrations say', async () => {
  const at = await two(rename)
  await start()
  const problem = async (migrations: object) => {
    await writeFile(path.join(at, 'migrations.json'), JSON.stringify(migrations))
    const checks = await checkPlugin(at)
    return checks.find(({ check }) => check.startsWith('carries settings over'))?.problem
  }
  const from = '1.0.0'
  const settings = { limit: 5 }
  expect(await problem([{ from, settings, becomes: { max_items: 5 } }])).toBeUndefined()
  expect(await problem([{ from, settings, becomes: { max_items: 6 } }])).toContain('settings of 1.0.0')
  expect(await problem([{ from, settings: { other: 5 }, becomes: {} }])).toContain('"other"')
  expect(await problem([{ from: '2.0.0', settings, becomes: {} }])).toContain(
    'the version that the plugin has',
  )
  expect(await problem([])).toContain('>=1')
  await rm(path.join(at, 'migrations.json'))
  const checks = await checkPlugin(at)
  expect(checks.flatMap(({ problem }) => problem ?? []).join()).toContain('migrations.json must say')
})

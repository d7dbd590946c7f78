import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { headerCode, moduleCode, type PluginFiles, writePlugin } from '../../test/plugin-folder.ts'

let folder: string
let gateway: TestGateway

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-plugins-'))
})

afterEach(async () => {
  await gateway.close()
  await rm(folder, { recursive: true, force: true })
})

const put = (id: string, plugin: PluginFiles): Promise<string> => writePlugin(folder, id, plugin)

async function start(): Promise<void> {
  gateway = await startGateway({ config: { plugin_dirs: [folder], plugins: { setup_timeout: '2s' } } })
}

const rescan = async () => (await gateway.api('POST', '/api/plugins/rescan')).body
const reload = (id: string) => gateway.api('POST', `/api/plugins/${id}/reload`)
const plugin = async (id: string) => (await gateway.api('GET', `/api/plugins/${id}`)).body
const staged = async () =>
  (await readdir(path.join(gateway.dataDir, 'staged'))).filter((name) => name !== 'package.json')

function ask(stream = false): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}` },
    body: JSON.stringify({ model: 'any', stream, messages: [{ role: 'user', content: 'hi' }] }),
  })
}

async function heard(header: string): Promise<string | null> {
  const response = await ask()
  expect(response.status).toBe(200)
  await response.text()
  return response.headers.get(header)
}

/** A module that says what the file beside it says. */
const speaking = (word: string): PluginFiles => ({
  files: {
    'index.js': `import { word } from './lib/word.js'\n${headerCode('x-word', '').replace('""', 'word')}`,
    'lib/word.js': `export const word = '${word}'`,
  },
})

test('a folder that is dropped in is found, runs, takes what changed in any file, and is gone when it is gone', async () => {
  await start()
  expect(await rescan()).toMatchObject({ added: [], changed: [], removed: [], failed: [] })
  const at = await put('speaker', speaking('one'))
  expect(await rescan()).toMatchObject({ added: ['speaker'], failed: [] })
  expect(await heard('x-word')).toBe('one')
  await writeFile(path.join(at, 'lib/word.js'), `export const word = 'two'`)
  expect(await rescan()).toMatchObject({ changed: ['speaker'], failed: [] })
  expect(await heard('x-word')).toBe('two')
  await rm(at, { recursive: true })
  expect(await rescan()).toMatchObject({ removed: ['speaker'] })
  expect(await heard('x-word')).toBeNull()
  expect((await gateway.api('GET', '/api/plugins/speaker')).status).toBe(404)
  await expect.poll(staged).toEqual([])
})

test('the same content is not imported twice, also when it comes back', async () => {
  const count = `globalThis.importedForTest = (globalThis.importedForTest ?? 0) + 1\n`
  const version = (n: number): PluginFiles => ({
    files: { 'index.js': `${count}${headerCode('x-n', String(n))}` },
  })
  const imported = () => (globalThis as { importedForTest?: number }).importedForTest
  await put('counted', version(1))
  await start()
  expect(imported()).toBe(1)
  expect((await reload('counted')).body).toMatchObject({ reloaded: false, state: 'active' })
  await put('counted', version(2))
  expect((await reload('counted')).body).toMatchObject({ reloaded: true })
  expect([imported(), await heard('x-n')]).toEqual([2, '2'])
  await put('counted', version(1))
  expect((await reload('counted')).body).toMatchObject({ reloaded: true })
  expect([imported(), await heard('x-n')]).toEqual([2, '1'])
})

test('what it remembers, stored and was told survives a reload; timers and listeners do not pile up', async () => {
  const version = (n: number): PluginFiles => ({
    files: {
      'index.js': moduleCode(`
        const seen = ctx.memory('seen', () => ({ setups: 0 }))
        seen.setups += 1
        ctx.every(60_000, () => {})
        return { request(call) { call.trace.header('x-kept', [${n}, seen.setups, ctx.settings.word].join(' ')) } }`),
    },
  })
  await put('keeps', version(1))
  await start()
  await gateway.api('PUT', '/api/plugins/keeps', { config: { word: 'told' } })
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  await heard('x-kept')
  const before = timers()
  for (let n = 2; n < 12; n += 1) {
    await put('keeps', version(n))
    expect((await reload('keeps')).body.reloaded).toBe(true)
  }
  expect(await heard('x-kept')).toBe('11 12 told')
  await expect.poll(timers).toBeLessThanOrEqual(before + 3)
  await expect.poll(staged).toHaveLength(1)
})

test('nothing that a replaced version made is left: hooks, routes, services, listeners, timers', async () => {
  const made: WeakRef<object>[] = []
  Object.assign(globalThis, { madeForTest: made })
  const version = (n: number): PluginFiles => ({
    manifest: { permissions: ['routes', 'body:write', 'store'] },
    files: {
      'index.js': moduleCode(`
        const own = { n: ${n}, much: new Array(10_000).fill(${n}) }
        globalThis.madeForTest.push(new WeakRef(own))
        const slot = ctx.slot(() => own)
        ctx.on({ name: 'call.settled' }, () => own)
        ctx.onAny(() => own)
        ctx.every(60_000, () => own)
        ctx.own(() => own)
        ctx.provide(Symbol.for('owned'), own)
        ctx.signal.addEventListener('abort', () => own)
        ctx.store.collection('things', { schema: { parse: (row) => row, safeParse: (data) => ({ success: true, data, own }) } })
        ctx.route({ method: 'get', path: '/api/own', access: 'any', summary: 's', returns: 'text', handle: () => String(own.n) })
        return {
          request(call) { slot(call); call.trace.header('x-own', String(own.n)) },
          stream: () => (own ? undefined : undefined),
          settled: () => void own,
        }`),
    },
  })
  await put('owner', version(0))
  await start()
  for (let n = 1; n <= 10; n += 1) {
    expect(await heard('x-own')).toBe(String(n - 1))
    await put('owner', version(n))
    expect((await reload('owner')).body.reloaded).toBe(true)
  }
  const left = (): number[] => {
    globalThis.gc!()
    return made.flatMap((ref) => (ref.deref() as { n: number } | undefined)?.n ?? [])
  }
  await vi.waitFor(() => expect(left()).toEqual([10]), { timeout: 15_000, interval: 200 })
})

test.each([
  ['throws when it is imported', { files: { 'index.js': `throw new Error('not today')` } }, 'not today'],
  ['throws in setup', { files: { 'index.js': moduleCode(`throw new Error('no setup')`) } }, 'no setup'],
  [
    'never ends its setup',
    { files: { 'index.js': moduleCode('return new Promise(() => {})') } },
    'setup took longer',
  ],
  [
    'never ends its import',
    { files: { 'index.js': `await new Promise(() => {})\n${headerCode('x-v', '2')}` } },
    'import took longer',
  ],
  [
    'adds a route twice',
    {
      manifest: { permissions: ['routes'] },
      files: {
        'index.js': moduleCode(
          `for (const handle of [() => '', () => '']) ctx.route({ method: 'get', path: '/api/x', access: 'any', summary: 's', returns: 'text', handle })`,
        ),
      },
    },
    'steady has already',
  ],
  ['has no code', { files: {} }, 'index'],
  [
    'adds a route without permission',
    {
      files: {
        'index.js': moduleCode(
          `ctx.route({ method: 'get', path: '/api/x', access: 'any', summary: 's', returns: 'text', handle: () => '' })`,
        ),
      },
    },
    'permission',
  ],
  [
    'claims a route that is taken',
    {
      manifest: { permissions: ['routes'] },
      files: {
        'index.js': moduleCode(
          `ctx.route({ method: 'get', path: '/api/plugins', access: 'any', summary: 's', returns: 'text', handle: () => '' })`,
        ),
      },
    },
    'extensions has already',
  ],
  [
    'is written for another contract',
    { manifest: { api: '^99.0.0' }, files: { 'index.js': headerCode('x-v', '2') } },
    '99',
  ],
  [
    'needs what is not there',
    { manifest: { requires: ['nobody'] }, files: { 'index.js': headerCode('x-v', '2') } },
    'nobody',
  ],
  [
    'imports what is outside its folder',
    { files: { 'index.js': `import '../../../etc/passwd.js'\n${headerCode('x-v', '2')}` } },
    'passwd',
  ],
] as const)('new code that %s leaves the old running and says why', async (_, broken, reason) => {
  await put('steady', { files: { 'index.js': headerCode('x-v', '1') } })
  await start()
  await put('steady', broken)
  const refused = await reload('steady')
  expect(refused.status).toBe(409)
  expect(refused.body.error.message).toContain(reason)
  expect(await plugin('steady')).toMatchObject({ state: 'active', problem: expect.stringContaining(reason) })
  expect(await heard('x-v')).toBe('1')
  expect((await rescan()).failed).toMatchObject([{ name: 'steady' }])
  expect(await heard('x-v')).toBe('1')
  await put('steady', { files: { 'index.js': headerCode('x-v', '3') } })
  expect((await reload('steady')).body).toMatchObject({ reloaded: true, problem: null })
  expect(await heard('x-v')).toBe('3')
})

test('an import that failed is tried afresh when it is asked for, though no file changed', async () => {
  const flag = globalThis as { readyForTest?: boolean }
  flag.readyForTest = false
  const gate = `if (!globalThis.readyForTest) throw new Error('not ready')\n`
  await put('late', { files: { 'index.js': `${gate}${headerCode('x-late', 'yes')}` } })
  await start()
  expect(await plugin('late')).toMatchObject({ state: 'failed', problem: 'not ready' })
  expect((await reload('late')).status).toBe(409)
  flag.readyForTest = true
  expect((await reload('late')).body).toMatchObject({ state: 'active', reloaded: true })
  expect(await heard('x-late')).toBe('yes')
})

test('names that are taken, links and nonsense are listed with the reason, and stop nobody', async () => {
  await put('outputcap', { files: { 'index.js': headerCode('x-cap', 'false') } })
  const linked = await put('linked', { files: { 'index.js': headerCode('x-linked', 'yes') } })
  await symlink('/etc', path.join(linked, 'secrets'))
  await put('good', { files: { 'index.js': headerCode('x-good', 'yes') } })
  await symlink(path.join(folder, 'good'), path.join(folder, 'alias'))
  await start()
  expect(await plugin('outputcap')).toMatchObject({ source: 'builtin' })
  expect(await plugin('outputcap~2')).toMatchObject({
    state: 'invalid',
    problem: expect.stringContaining("the gateway's own"),
  })
  expect(await plugin('linked')).toMatchObject({
    state: 'invalid',
    problem: expect.stringContaining('secrets'),
  })
  expect(await plugin('alias')).toMatchObject({
    state: 'invalid',
    problem: expect.stringContaining('"good"'),
  })
  expect(await heard('x-good')).toBe('yes')
  expect((await reload('outputcap')).status).toBe(409)
  expect((await gateway.api('POST', '/api/plugins/..%2f..%2fetc/reload')).status).toBe(404)
})

test('the data of the gateway is no plugin, though it lies among them', async () => {
  await put('good', { files: { 'index.js': headerCode('x-good', 'yes') } })
  const config = { plugin_dirs: [folder] }
  gateway = await startGateway({ config, dataDir: path.join(folder, 'data') })
  const { body } = await gateway.api('GET', '/api/plugins?source=local')
  expect(body.plugins.map(({ name }: { name: string }) => name)).toEqual(['good'])
})

test('what others need is not stopped when its folder goes, and that is told', async () => {
  const base = await put('basis', { files: { 'index.js': headerCode('x-basis', 'yes') } })
  await put('above', {
    manifest: { requires: ['basis'] },
    files: { 'index.js': headerCode('x-above', 'yes') },
  })
  await start()
  await rm(base, { recursive: true })
  expect((await rescan()).failed).toMatchObject([
    { name: 'basis', problem: expect.stringContaining('above') },
  ])
  expect(await plugin('basis')).toMatchObject({ state: 'active', problem: expect.stringContaining('gone') })
  expect(await heard('x-basis')).toBe('yes')
  await rm(path.join(folder, 'above'), { recursive: true })
  await rescan()
  expect(await rescan()).toMatchObject({ failed: [] })
  expect((await gateway.api('GET', '/api/plugins?source=local')).body.plugins).toEqual([])
})

test('a manifest that changed is honoured: its stage, and whether it runs', async () => {
  const files = { 'index.js': headerCode('x-v', '1') }
  await put('moves', { files })
  await start()
  const { registry } = gateway.kernel
  const stage = () => registry.places.find((place) => place.plugin.id === 'moves')?.manifest.stage
  expect(stage()).toBe('limits')
  await put('moves', { manifest: { stage: 'route', version: '2.0.0' }, files })
  expect((await reload('moves')).body).toMatchObject({ version: '2.0.0' })
  expect(stage()).toBe('route')
  await put('moves', { manifest: { enabled: false }, files })
  expect((await reload('moves')).body).toMatchObject({ state: 'disabled' })
  expect(await heard('x-v')).toBeNull()
})

test('what was broken and is again what runs has no problem any more, whoever looks', async () => {
  const sound: PluginFiles = { files: { 'index.js': headerCode('x-v', '1') } }
  const broken: PluginFiles = { files: { 'index.js': 'export default {' } }
  await put('mended', sound)
  await start()
  for (const look of [rescan, () => reload('mended')]) {
    await put('mended', broken)
    await rescan()
    expect(await plugin('mended')).toMatchObject({ state: 'active', problem: expect.any(String) })
    await put('mended', sound)
    await look()
    expect(await plugin('mended')).toMatchObject({ state: 'active', problem: null })
  }
})

test('what comes, changes, goes and is not taken is logged, a refusal as a warning with its reason', async () => {
  await start()
  const said = () =>
    gateway.logged
      .map((line) => JSON.parse(line))
      .filter(({ plugin }) => plugin === 'told')
      .map(({ level, msg, version, problem }) => [level, msg, version ?? problem])
  const files = { 'index.js': headerCode('x-v', '1') }
  await put('told', { files })
  await rescan()
  await put('told', { manifest: { version: '1.1.0' }, files })
  await reload('told')
  await put('told', { files: { 'index.js': moduleCode(`throw new Error('no setup')`) } })
  expect((await reload('told')).status).toBe(409)
  await rm(path.join(folder, 'told'), { recursive: true })
  await rescan()
  expect(said()).toEqual([
    ['info', 'a plugin was added', '1.0.0'],
    ['info', 'a plugin has other code', '1.1.0'],
    ['warn', 'a change of plugins was refused', expect.stringContaining('no setup')],
    ['info', 'a plugin was removed', '1.1.0'],
  ])
})

test('a folder of plugins that is not there is told at the start, and stops nothing', async () => {
  await put('good', { files: { 'index.js': headerCode('x-good', 'yes') } })
  const missing = path.join(folder, 'nowhere')
  gateway = await startGateway({ config: { plugin_dirs: [folder, missing] } })
  expect(await heard('x-good')).toBe('yes')
  const lines = gateway.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn')
  expect(lines).toMatchObject([{ folder: missing, msg: expect.stringContaining('plugin_dirs') }])
})

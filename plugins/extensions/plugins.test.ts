import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeDropins } from '../../test/dropins.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})

afterAll(() => gateway.close())

interface Item {
  readonly name: string
  readonly kind: string
  readonly state: string
}

const list = async (query = ''): Promise<Item[]> =>
  (await gateway.api('GET', `/api/plugins${query}`)).body.plugins

test('the list has every plugin of every kind, and can be narrowed', async () => {
  const all = await list()
  expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['area', 'module', 'provider']))
  expect(await list('?kind=area&state=active')).toEqual(
    all.filter(({ kind, state }) => kind === 'area' && state === 'active'),
  )
  expect(await list('?source=local')).toEqual([])
  const page = (await gateway.api('GET', '/api/plugins?limit=2&offset=1')).body
  expect(page).toMatchObject({ total: all.length, limit: 2, offset: 1, has_more: true })
  expect(page.plugins).toEqual(all.slice(1, 3))
  expect((await gateway.api('GET', '/api/plugins?kind=nonsense')).status).toBe(400)
})

test('one plugin is shown with its settings, their schema and its routes', async () => {
  expect((await gateway.api('GET', '/api/plugins/extensions')).body).toMatchObject({
    kind: 'area',
    source: 'builtin',
    content: null,
    folder: null,
    routes: expect.arrayContaining(['GET /api/plugins', 'POST /api/plugins/{name}/reload']),
  })
  const { body } = await gateway.api('GET', '/api/plugins/outputcap')
  expect(body.config_schema.properties).toHaveProperty('default_max_tokens')
  expect((await gateway.api('GET', '/api/plugins/nobody')).status).toBe(404)
})

test('a change here is the change that the modules have, of every kind', async () => {
  const changed = await gateway.api('PUT', '/api/plugins/outputcap', {
    enabled: true,
    config: { default_max_tokens: 5 },
  })
  expect(changed.body).toMatchObject({ state: 'active', config: { default_max_tokens: 5 } })
  expect((await gateway.api('GET', '/api/proxy/modules/outputcap')).body).toMatchObject({ enabled: true })
  expect((await gateway.api('PUT', '/api/plugins/groq', { enabled: false })).body.state).toBe('disabled')
  expect((await gateway.api('PUT', '/api/plugins/outputcap', {})).status).toBe(400)
  const unknown = await gateway.api('PUT', '/api/plugins/outputcap', { enable: true })
  expect(unknown).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('enable') } },
  })
})

test('a name that is not known is answered with the nearest one: of a plugin, of a setting, of a field', async () => {
  const put = (name: string, body: object) => gateway.api('PUT', `/api/plugins/${name}`, body)
  const messageOf = async (answer: ReturnType<typeof put>) => (await answer).body.error.message
  expect(await messageOf(put('outputcup', { enabled: true }))).toBe(
    'There is no plugin called outputcup. The nearest is outputcap.',
  )
  expect(await messageOf(gateway.api('GET', '/api/proxy/modules/outputkap'))).toContain(
    'nearest is outputcap',
  )
  expect(await messageOf(gateway.api('GET', '/api/plugins/zzzzzzzzz'))).not.toContain('nearest')
  expect(await messageOf(put('outputcap', { config: { default_max_token: 5 } }))).toContain(
    'the nearest known is default_max_tokens',
  )
  expect(await messageOf(put('outputcap', { enable: true }))).toContain('the nearest known is enabled')
})

test('where there is nothing because its plugin is switched off, the answer says so, and how to switch it on', async () => {
  const path = '/api/modules/batchqueue/calls'
  const { status, body } = await gateway.api('GET', path)
  expect(status).toBe(404)
  expect(body.error).toMatchObject({
    code: 'not_found',
    type: 'not_running',
    message: expect.stringContaining('The module batchqueue is switched off.'),
    details: { plugin: 'batchqueue' },
  })
  expect((await gateway.api('PUT', '/api/proxy/modules/batchqueue', { enabled: true })).status).toBe(200)
  expect((await gateway.api('GET', path)).status).toBe(200)
  expect((await gateway.api('GET', '/api/modules/batchqueue')).body.error.type).toBe('not_found_error')
  await gateway.api('PUT', '/api/plugins/webhooks', { enabled: false })
  expect((await gateway.api('GET', '/api/webhooks')).body.error.details).toEqual({ plugin: 'webhooks' })
  await gateway.api('PUT', '/api/plugins/webhooks', { enabled: true })
})

test('null clears all settings to their defaults, those of service.yaml too', async () => {
  const modules = { outputcap: { config: { default_max_tokens: 7 } } }
  const own = await startGateway({ config: { modules } })
  try {
    const put = (config: object | null) => own.api('PUT', '/api/plugins/outputcap', { config })
    expect((await put({ rules: [] })).body.config).toEqual({ default_max_tokens: 7, rules: [] })
    expect(await put(null)).toMatchObject({ status: 200, body: { config: {} } })
    expect((await put({ rules: [] })).body.config).toEqual({ rules: [] })
  } finally {
    await own.close()
  }
})

test('settings of what is gone are forgotten, those of its bindings too, and of what is there never', async () => {
  const { folder, remove } = await writeDropins({
    gone: { setup: 'return {}' },
    'gone-not': { setup: 'return {}' },
  })
  const own = await startGateway({ config: { plugin_dirs: [folder] } })
  try {
    const forget = (name: string) => own.api('DELETE', `/api/plugins/${name}/settings`)
    for (const name of ['gone', 'gone-not']) await own.api('PUT', `/api/plugins/${name}`, { order: 7 })
    const bound = await own.api('POST', '/api/proxy/modules/gone/bindings', { name: 'second' })
    expect(bound.status).toBe(201)
    expect(await forget('gone')).toMatchObject({ status: 409 })
    await rm(path.join(folder, 'gone'), { recursive: true })
    await own.api('POST', '/api/plugins/rescan')
    expect(await forget('gone')).toMatchObject({ status: 200, body: { deleted: true, id: 'gone' } })
    expect(await forget('gone')).toMatchObject({ status: 404 })
    await cp(path.join(folder, 'gone-not'), path.join(folder, 'gone'), { recursive: true })
    const manifest = path.join(folder, 'gone', 'manifest.json')
    await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('"gone-not"', '"gone"'))
    await own.api('POST', '/api/plugins/rescan')
    expect(own.kernel.registry.get('gone').setting).toMatchObject({ order: 0, enabled: true })
    expect(own.kernel.registry.bindings('gone')).toEqual([])
    expect(own.kernel.registry.get('gone-not').setting).toMatchObject({ order: 7 })
  } finally {
    await own.close()
    await remove()
  }
})

test('what a plugin and its bindings stored is shown, and erased when it is gone, and nothing of another', async () => {
  const setup = `ctx.store.collection('rows', { schema: { safeParse: (data) => ({ success: true, data }) } }).put('1', {})
    return {}`
  const manifest = { permissions: ['store'] }
  const { folder, remove } = await writeDropins({
    gone: { setup, manifest },
    'gone-not': { setup, manifest },
  })
  const own = await startGateway({ config: { plugin_dirs: [folder] } })
  const stored = async (name: string) => (await own.api('GET', `/api/plugins/${name}/stored`)).body.stored
  const erase = (name: string) => own.api('DELETE', `/api/plugins/${name}/stored`)
  const rows = (name: string) => ({ kind: 'collection', path: `${name}/rows`, entries: 1 })
  try {
    await own.api('POST', '/api/proxy/modules/gone/bindings', { name: 'second', enabled: true })
    await expect.poll(() => stored('gone')).toEqual([rows('gone'), rows('gone_second')])
    for (const name of ['gone', 'gone/second', 'gone_second', 'gone/'])
      expect([409, 404], name).toContain((await erase(encodeURIComponent(name))).status)
    expect((await stored('gone')).length).toBe(2)
    await rm(path.join(folder, 'gone'), { recursive: true })
    await own.api('POST', '/api/plugins/rescan')
    expect(await erase('gone')).toMatchObject({ status: 200, body: { deleted: true, id: 'gone' } })
    expect(await erase('gone')).toMatchObject({ status: 404 })
    expect(await stored('gone')).toEqual([])
    expect(await stored('gone-not')).toEqual([rows('gone-not')])
  } finally {
    await own.close()
    await remove()
  }
})

test('all of it is for admins', async () => {
  const { key } = await gateway.signUp()
  const asUser = (method: string, at: string) => gateway.api(method, at, undefined, key)
  for (const [method, at] of [
    ['GET', '/api/plugins'],
    ['GET', '/api/plugins/outputcap'],
    ['PUT', '/api/plugins/outputcap'],
    ['DELETE', '/api/plugins/outputcap/settings'],
    ['GET', '/api/plugins/outputcap/stored'],
    ['DELETE', '/api/plugins/outputcap/stored'],
    ['POST', '/api/plugins/rescan'],
    ['POST', '/api/plugins/outputcap/reload'],
  ] as const)
    expect([at, (await asUser(method, at)).status]).toEqual([at, 403])
})

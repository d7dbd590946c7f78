import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bareChain } from '../../../test/bare.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'
import { sections } from '../../upstream/sections.ts'

let folder: string
let upstream: Upstream
let other: Upstream
let gateway: TestGateway

const start = () =>
  startGateway({
    dataDir: path.join(folder, 'data'),
    env: { OPENAI_API_KEY: 'sk-of-the-environment' },
    config: { providers: { openai: { base_url: upstream.baseUrl() } } },
  })

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-providers-'))
  upstream = await startUpstream({ apiKey: 'sk-of-the-environment' })
  other = await startUpstream({
    apiKey: ['sk-secret-of-mycorp', 'sk-second-key', 'sk-of-the-pool', 'sk-at-runtime'],
  })
  gateway = await start()
  await bareChain(gateway)
})

beforeEach(() => {
  upstream.reset()
  other.reset()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await other.close()
  await rm(folder, { recursive: true })
})

const at = '/api/proxy/providers'
const add = (body: object, key?: string) => gateway.api('POST', at, body, key)
const change = (name: string, body: object) => gateway.api('PUT', `${at}/${name}`, body)
const remove = (name: string) => gateway.api('DELETE', `${at}/${name}`)
const call = (model: string) =>
  gateway.api('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] })
const last = async () => (await gateway.api('GET', '/api/config/history?limit=1')).body.generations[0]
const mine = () => ({
  name: 'mycorp',
  type: 'openai',
  base_url: other.baseUrl(),
  api_key: 'sk-secret-of-mycorp',
})

test('a provider that is added serves the next call with its key, which is never shown', async () => {
  const { status, body } = await add({
    ...mine(),
    models: ['mycorp-*'],
    headers: { 'x-team': 'secret-team' },
  })
  expect([status, body]).toMatchObject([
    201,
    { name: 'mycorp', kind: 'openai', key_source: 'api', base_url: other.baseUrl() },
  ])
  expect((await call('mycorp-large')).status).toBe(200)
  expect(other.last().headers).toMatchObject({
    authorization: 'Bearer sk-secret-of-mycorp',
    'x-team': 'secret-team',
  })
  expect((await add(mine())).status).toBe(409)

  const shown = {
    type: 'openai',
    base_url: other.baseUrl(),
    models: ['mycorp-*'],
    keys: ['corp'],
    headers: ['x-team'],
  }
  expect((await last()).changes).toEqual([
    { section: 'providers', key: 'mycorp', before: null, after: shown },
  ])
  const answers = [body, (await gateway.api('GET', `${at}/mycorp`)).body, await last()]
  expect(JSON.stringify(answers)).not.toMatch(/sk-secret|secret-team|enc:/)
})

test('its keys lie encrypted on the disk', async () => {
  await gateway.close()
  const db = path.join(folder, 'data', 'db')
  const files = (await readdir(db, { recursive: true, withFileTypes: true })).filter((file) => file.isFile())
  const all = await Promise.all(
    files.map((file) => readFile(path.join(file.parentPath, file.name), 'latin1')),
  )
  expect(all.join('')).not.toMatch(/sk-secret-of-mycorp|secret-team/)
  gateway = await start()
  expect((await call('mycorp-large')).status).toBe(200)
  expect(other.last().headers).toMatchObject({ authorization: 'Bearer sk-secret-of-mycorp' })
})

test('what is changed holds for the next call; what is not named stays', async () => {
  expect((await change('mycorp', { api_key: 'sk-second-key' })).status).toBe(200)
  await call('mycorp-large')
  expect(other.last().headers).toMatchObject({
    authorization: 'Bearer sk-second-key',
    'x-team': 'secret-team',
  })
  await change('mycorp', { keys: [{ api_key: 'sk-of-the-pool' }], headers: null })
  await call('mycorp-large')
  expect(other.last().headers.authorization).toBe('Bearer sk-of-the-pool')
  expect(other.last().headers['x-team']).toBeUndefined()
})

test('what is said at runtime outweighs service.yaml and the environment, until it is removed', async () => {
  const { body } = await change('openai', { base_url: other.baseUrl(), api_key: 'sk-at-runtime' })
  expect(body).toMatchObject({ key_source: 'api', base_url: other.baseUrl() })
  await call('openai/gpt-4o-mini')
  expect(other.last().headers.authorization).toBe('Bearer sk-at-runtime')
  expect((await remove('openai')).body).toEqual({ deleted: true, id: 'openai' })
  await call('openai/gpt-4o-mini')
  expect(upstream.last().headers.authorization).toBe('Bearer sk-of-the-environment')
  expect((await remove('openai')).status).toBe(409)
})

test('a provider that a route leads to stays; one without routes goes, and a rollback brings it back with its key', async () => {
  const base = (await last()).generation
  const routes = [{ match: 'house', provider: 'mycorp' }]
  await gateway.api('PUT', '/api/proxy/routes', { routes })
  expect((await remove('mycorp')).status).toBe(409)
  await gateway.api('PUT', '/api/proxy/routes', { routes: null })
  expect((await remove('mycorp?if_generation=1')).status).toBe(409)
  expect((await remove('mycorp')).status).toBe(200)
  expect([(await call('mycorp/x')).status, (await gateway.api('GET', `${at}/mycorp`)).status]).toEqual([
    404, 404,
  ])
  expect((await gateway.api('POST', '/api/config/rollback', { generation: base })).status).toBe(200)
  expect((await call('mycorp/x')).status).toBe(200)
  expect(other.last().headers.authorization).toBe('Bearer sk-of-the-pool')
})

test('a provider that a route leads to stays also where a document or a pack takes it away', async () => {
  const provider = { type: 'openai', base_url: other.baseUrl(), api_key: 'sk-secret-of-mycorp' }
  const patch = (body: object) => gateway.api('POST', '/api/config', body)
  const table = [{ match: 'house', provider: 'held' }]
  expect((await patch({ providers: { held: provider }, routes: { table } })).status).toBe(200)
  const { generation } = await last()
  const refused = await patch({ providers: { held: null } })
  expect([refused.status, refused.body.error.param]).toEqual([409, 'routes.table'])
  expect(refused.body.error.message).toContain('held')
  const snapshot = { version: 1, sections: { providers: {} } }
  const replaced = await gateway.api('POST', '/api/config/import', { snapshot, mode: 'replace' })
  expect([replaced.status, (await last()).generation]).toEqual([409, generation])
  expect((await patch({ providers: { held: { region: 'eu' }, other: provider } })).status).toBe(200)
  expect((await call('house')).status).toBe(200)
  expect((await patch({ providers: { held: null }, routes: { table: null } })).status).toBe(200)

  const content = { providers: { packed: { type: 'openai', base_url: other.baseUrl() } } }
  await gateway.api('POST', '/api/exchange/packs', { slug: 'held', name: 'held', version: '1.0.0', content })
  const { body } = await gateway.api('POST', '/api/exchange/packs/held/install', {})
  await gateway.api('PUT', '/api/proxy/routes', { routes: [{ match: 'house', provider: 'packed' }] })
  const uninstall = () => gateway.api('DELETE', `/api/exchange/installed/${body.id}`)
  expect((await uninstall()).status).toBe(409)
  await gateway.api('PUT', '/api/proxy/routes', { routes: null })
  expect((await uninstall()).status).toBe(200)
  await remove('other')
})

test('a document that switches a provider off or on goes with its routes, or not at all', async () => {
  const patch = (body: object) => gateway.api('POST', '/api/config', body)
  const table = [{ match: 'house', provider: 'cohere' }]
  expect((await patch({ plugins: { cohere: { enabled: false } } })).status).toBe(200)
  const refused = await patch({ routes: { table } })
  expect([refused.status, refused.body.error.param]).toEqual([400, 'routes.table.0.provider'])
  const both = await patch({ plugins: { cohere: { enabled: true } }, routes: { table } })
  expect([both.status, both.body.error]).toEqual([200, undefined])
  const off = await patch({ plugins: { cohere: { enabled: false } } })
  expect([off.status, off.body.error.param]).toEqual([409, 'routes.table'])
  const said = { type: 'openai', base_url: other.baseUrl(), api_key: 'sk-at-runtime' }
  const replaced = { plugins: { cohere: { enabled: false } }, providers: { cohere: said } }
  expect((await patch(replaced)).status).toBe(200)
  expect((await call('house')).status).toBe(200)
  expect(other.last().headers.authorization).toBe('Bearer sk-at-runtime')
  const typeless = { plugins: { cohere: null }, providers: { cohere: null }, routes: { table: null } }
  expect((await patch(typeless)).status).toBe(200)
})

test('a provider that a route leads to is not switched off, unless an entry of its name takes its place', async () => {
  const toggle = (enabled: boolean) => gateway.api('PUT', '/api/plugins/cohere', { enabled })
  const table = (routes: unknown) => gateway.api('PUT', '/api/proxy/routes', { routes })
  await table([{ match: 'house', provider: 'cohere' }])
  const { generation } = await last()
  const refused = await toggle(false)
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    'The route house leads to cohere; change the table of routes first.',
  ])
  expect((await last()).generation).toBe(generation)
  expect((await toggle(true)).status).toBe(200)
  expect((await add({ ...mine(), name: 'own' })).status).toBe(201)
  expect((await change('cohere', { type: 'openai', base_url: other.baseUrl() })).status).toBe(200)
  expect((await toggle(false)).status).toBe(200)
  expect((await toggle(false)).status).toBe(200)
  await table(null)
  await remove('cohere')
  await remove('own')
  expect((await toggle(true)).status).toBe(200)
})

test.each<[string, object, string]>([
  ['modelalias', { aliases: { fast: 'swift', swift: 'led/large' } }, 'fast'],
  ['modelalias', { aliases: { 'claude-*': { model: 'led-large' } } }, 'claude-*'],
  ['fallbackrouter', { chains: { 'gpt-*': ['openai/*', 'led/*'] } }, 'gpt-*'],
  ['modelswitch', { rules: [{ name: 'long', when: {}, model: 'led/large' }] }, 'long'],
  ['canarydeploy', { rollouts: { 'new-model': { model: 'gpt-4o', target: 'led/large' } } }, 'new-model'],
  [
    'abrouter',
    { experiments: { size: { models: ['gpt-4o'], variants: { a: {}, b: { model: 'led/large' } } } } },
    'size',
  ],
])(
  'a provider that %s sends calls on to with %j stays, until it does no more',
  async (module, config, from) => {
    const led = { ...mine(), name: 'led', models: ['led-large'] }
    expect((await add(led)).status).toBe(201)
    await gateway.module(module, { enabled: true, config })
    const { status, body } = await remove('led')
    expect([status, body.error?.message]).toEqual([
      409,
      `${module}: ${from} leads to led; change the settings of ${module} first.`,
    ])
    const empty = Object.entries(config).map(([name, value]) => [name, Array.isArray(value) ? [] : {}])
    await gateway.module(module, { enabled: false, config: Object.fromEntries(empty) })
    expect((await remove('led')).status).toBe(200)
  },
)

test('a document takes a provider away that an alias leads to only with the alias, and so does a rollback', async () => {
  const patch = (body: object) => gateway.api('POST', '/api/config', body)
  const provider = { type: 'openai', base_url: other.baseUrl(), api_key: 'sk-secret-of-mycorp' }
  const alias = (model: string) => ({ enabled: true, config: { aliases: { fast: model } } })
  const { generation: base } = await last()
  const both = { providers: { led: provider }, modules: { modelalias: alias('led/large') } }
  expect((await patch(both)).body.error).toBeUndefined()
  const { generation } = await last()
  const refused = await patch({ providers: { led: null } })
  expect([refused.status, refused.body.error.param]).toEqual([409, 'routes'])
  expect(refused.body.error.message).toContain('fast of modelalias leads to led, which is no provider.')
  const beside = { providers: { led: null }, modules: { inflight: { enabled: false } } }
  expect((await patch(beside)).status).toBe(409)
  expect((await last()).generation).toBe(generation)
  const moved = { providers: { led: null }, modules: { modelalias: alias('gpt-4o') } }
  expect((await patch(moved)).status).toBe(200)
  expect((await gateway.api('POST', '/api/config/rollback', { generation })).status).toBe(200)
  expect((await gateway.api('POST', '/api/config/rollback', { generation: base })).status).toBe(200)
  expect((await call('led/large')).status).toBe(404)
})

test('a provider that an alias leads to is not switched off, unless another one serves the model or the alias is in shadow', async () => {
  const toggle = async (enabled: boolean) =>
    (await gateway.api('PUT', '/api/plugins/cohere', { enabled })).status
  const alias = (model: string, mode = 'enforce') =>
    gateway.module('modelalias', { enabled: true, mode, config: { aliases: { fast: model } } })
  await alias('cohere/command-r')
  expect(await toggle(false)).toBe(409)
  await alias('cohere/command-r', 'shadow')
  expect([await toggle(false), await toggle(true)]).toEqual([200, 200])
  expect((await add({ ...mine(), name: 'second', models: ['command-r'] })).status).toBe(201)
  await alias('command-r')
  expect([await toggle(false), await toggle(true)]).toEqual([200, 200])
  await gateway.module('modelalias', { enabled: false })
  await remove('second')
})

test('a rollback to routes that lead nowhere is refused, as one of before such routes were refused can be', async () => {
  const rollback = (to: number) => gateway.api('POST', '/api/config/rollback', { generation: to })
  await gateway.api('PUT', '/api/proxy/routes', { routes: [{ match: 'house', provider: 'cohere' }] })
  await gateway.kernel.registry.change('cohere', { enabled: false })
  const lost = (await last()).generation
  await gateway.kernel.registry.change('cohere', { enabled: true })
  const { generation } = await last()
  const gone = await rollback(lost)
  expect([gone.status, gone.body.error.param]).toEqual([409, 'routes.table'])
  await gateway.api('PUT', '/api/proxy/routes', { routes: null })
  const both = await rollback(lost)
  expect([both.status, both.body.error.param]).toEqual([409, 'routes.table.0.provider'])
  expect((await last()).generation).toBe(generation + 1)
  expect((await rollback(generation)).status).toBe(200)
  await gateway.api('PUT', '/api/proxy/routes', { routes: null })
})

test('of a provider that is removed and a route that is set to it at the same time, one is refused', async () => {
  const routes = [{ match: 'house', provider: 'raced' }]
  const table = (rules: unknown) => gateway.api('PUT', '/api/proxy/routes', { routes: rules })
  for (let round = 0; round < 6; round += 1) {
    expect((await add({ ...mine(), name: 'raced' })).status).toBe(201)
    const set = () => table(routes)
    const gone = () => remove('raced')
    const [first, second] = round % 2 ? [gone, set] : [set, gone]
    const statuses = (await Promise.all([first(), second()])).map(({ status }) => status)
    expect([200, 409, 400]).toEqual(expect.arrayContaining(statuses))
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    await table(null)
    await remove('raced')
  }
})

describe('while service.yaml has a route to a provider that was added at runtime', () => {
  let own: TestGateway

  beforeAll(async () => {
    const routes = [{ match: 'house', provider: 'later' }]
    own = await startGateway({ upstream, config: { routes, providers: { vague: { api_key: 'k' } } } })
    expect((await own.api('POST', at, { ...mine(), name: 'later' })).status).toBe(201)
  })

  afterAll(() => own.close())

  const patch = (body: object) => own.api('POST', '/api/config', body)

  test('no document takes the provider away', async () => {
    const refused = await patch({ providers: { later: null } })
    expect([refused.status, refused.body.error.param]).toEqual([409, 'routes'])
    expect(refused.body.error.message).toContain('house')
    expect((await own.api('DELETE', `${at}/later`)).status).toBe(409)
    const snapshot = { version: 1, sections: { providers: {} } }
    expect((await own.api('POST', '/api/config/import', { snapshot, mode: 'replace' })).status).toBe(409)
    expect((await patch({ modules: { outputcap: { enabled: false } } })).status).toBe(200)
  })

  test('no rollback takes the provider away', async () => {
    const { generations } = (await own.api('GET', '/api/config/history')).body
    const { generation } = generations.find(({ changes }: { changes: { key: string }[] }) =>
      changes.some(({ key }) => key === 'later'),
    )
    const refused = await own.api('POST', '/api/config/rollback', { generation: generation - 1 })
    expect([refused.status, refused.body.error.param]).toEqual([409, 'routes'])
    expect(refused.body.error.message).toContain('house')
    expect((await own.api('POST', '/api/config/rollback', { generation })).status).toBe(200)
  })

  test('the table of the file does not come back without the provider', async () => {
    const table = [{ match: 'house', provider: 'openai' }]
    expect((await patch({ providers: { later: null }, routes: { table } })).status).toBe(200)
    const cleared = await own.api('PUT', '/api/proxy/routes', { routes: null })
    expect([cleared.status, cleared.body.error.param]).toEqual([409, 'routes'])
    const patched = await patch({ routes: { table: null } })
    expect([patched.status, patched.body.error.param]).toEqual([400, 'routes'])
    const { name: _, ...said } = mine()
    expect((await patch({ routes: { table: null }, providers: { later: said } })).status).toBe(200)
  })

  test('an entry of the file that says nothing of its protocol is a provider by what was said at runtime', async () => {
    const { name: _, ...said } = mine()
    expect((await own.api('PUT', `${at}/vague`, said)).status).toBe(404)
    const table = [{ match: 'house', provider: 'vague' }]
    expect((await patch({ providers: { vague: said }, routes: { table } })).status).toBe(200)
    expect((await own.api('DELETE', `${at}/vague`)).status).toBe(409)
    expect((await patch({ providers: { vague: null } })).status).toBe(409)
  })
})

test('of changes at a time none is lost, and of two that add one name one is refused', async () => {
  const parts = { org_id: 'org-1', region: 'eu', models: ['own-*'] }
  const twins = await Promise.all([
    add({ ...mine(), name: 'twin' }),
    add({ ...mine(), name: 'twin', base_url: 'http://127.0.0.1:9/v1' }),
  ])
  expect(twins.map(({ status }) => status).sort()).toEqual([201, 409])
  const changed = await Promise.all(
    Object.entries(parts).map(([field, value]) => change('twin', { [field]: value })),
  )
  expect(changed.map(({ status }) => status)).toEqual([200, 200, 200])
  const { providers } = (await gateway.api('GET', '/api/config')).body
  const { base_url } = twins.find(({ status }) => status === 201)!.body
  expect(providers.twin).toEqual({ type: 'openai', base_url, ...parts })
  await Promise.all([change('twin', { region: 'us' }), remove('twin'), change('twin', { region: 'jp' })])
  expect((await gateway.api('GET', `${at}/twin`)).status).toBe(404)
})

test('what makes no provider is refused by the name of its field, and changes nothing', async () => {
  const { generation } = await last()
  const refused = async (body: object) => {
    const answer = await add({ ...mine(), name: 'new', ...body })
    return [answer.status, answer.body.error.param]
  }
  expect(await refused({ type: 'opneai' })).toEqual([400, 'type'])
  expect(await refused({ type: undefined })).toEqual([400, 'type'])
  expect(await refused({ type: 'openai-compatible-of-mine', base_url: undefined })).toEqual([400, 'type'])
  expect(await refused({ options: { colour: 'red' } })).toEqual([400, 'options'])
  expect(await refused({ base_url: 'file:///etc/passwd' })).toEqual([400, 'base_url'])
  expect(await refused({ name: 'New Provider' })).toEqual([400, 'name'])
  expect(await refused({ keys: [{ api_key: 'another' }] })).toEqual([400, 'keys'])
  expect(await refused({ if_generation: generation - 1 })).toEqual([409, 'if_generation'])
  expect((await change('unknown', { api_key: 'k' })).status).toBe(404)
  expect((await remove('unknown')).status).toBe(404)
  expect((await last()).generation).toBe(generation)
})

test('a key or a header that no request can carry is refused, wherever it is said', async () => {
  const said = { type: 'openai', base_url: other.baseUrl() }
  const broken = 'sk-test\n'
  const cases: [object, string][] = [
    [{ api_key: broken }, 'api_key'],
    [{ keys: [{ api_key: broken }] }, 'keys.0.api_key'],
    [{ headers: { 'x-team': broken } }, 'headers.x-team'],
  ]
  for (const [field, param] of cases) {
    expect([param, (await add({ ...said, ...field, name: 'broken' })).status]).toEqual([param, 400])
    const patched = await gateway.api('POST', '/api/config', { providers: { broken: { ...said, ...field } } })
    expect([patched.status, patched.body.error.param]).toEqual([400, `providers.broken.${param}`])
  }
})

test.each([
  'Content-Length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'proxy-connection',
  'two words',
])('the header %s, with which calls could not be sent, is refused wherever it is said', async (name) => {
  const headers = { [name]: '5' }
  const changed = await change('openai', { headers })
  expect([changed.status, changed.body.error.param]).toEqual([400, `headers.${name}`])
  const patched = await gateway.api('POST', '/api/config', { providers: { openai: { headers } } })
  expect([patched.status, patched.body.error.param]).toEqual([400, `providers.openai.headers.${name}`])
  const { error } = sections.safeParse({ providers: { openai: { headers } } })
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([`providers.openai.headers.${name}`])
})

test('headers that a request may carry replace those that the gateway would send, host included', async () => {
  const headers = { host: 'models.internal', 'content-type': 'application/json; v=2', 'x.team': 'a' }
  expect((await add({ ...mine(), name: 'hosted', headers })).status).toBe(201)
  expect((await call('hosted/any')).status).toBe(200)
  expect(other.last().headers).toMatchObject(headers)
  await remove('hosted')
})

test('a provider may be called as what every object has', async () => {
  expect((await add({ ...mine(), name: 'constructor' })).status).toBe(201)
  expect((await call('constructor/any')).status).toBe(200)
  expect((await remove('constructor')).status).toBe(200)
  expect((await call('constructor/any')).status).toBe(404)
})

test('only admins add, change and remove providers', async () => {
  const { key } = await gateway.signUp()
  const asked = [
    add(mine(), key),
    gateway.api('PUT', `${at}/mycorp`, {}, key),
    gateway.api('DELETE', `${at}/mycorp`, undefined, key),
  ]
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([403, 403, 403])
})

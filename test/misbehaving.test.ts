import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from './harness.ts'
import { headerCode, moduleCode, type PluginFiles, writePlugin } from './plugin-folder.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

/**
 * Plugins that misbehave in every way but inside the chain, which `kernel/chain/module-circuit.test.ts` has, and in
 * workers, which `kernel/plugin/isolation` has: each has a clear state and reason, and harms no call.
 */

let folder: string
let gateway: TestGateway
let upstream: Upstream

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-misbehaving-'))
  upstream = await startUpstream()
  const second = path.join(folder, '.second')
  await put('good', { files: { 'index.js': headerCode('x-good', 'yes') } })
  await writePlugin(second, 'good', { files: { 'index.js': headerCode('x-good', 'no') } })
  for (const { id, files } of broken) await put(id, files)
  const config = { plugin_dirs: [folder, second], plugins: { setup_timeout: '3s' }, drain: '100ms' }
  gateway = await startGateway({ upstream, config })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

const put = (id: string, plugin: PluginFiles): Promise<string> => writePlugin(folder, id, plugin)

const rescan = async () => (await gateway.api('POST', '/api/plugins/rescan')).body

/** Takes a plugin away again, so that the next one finds the gateway as it was. */
async function remove(id: string): Promise<void> {
  await rm(path.join(folder, id), { recursive: true })
  expect(await rescan()).toMatchObject({ removed: [id], failed: [] })
}

const shown = async (id: string) => (await gateway.api('GET', `/api/plugins/${id}`)).body

/** A plain call and a streamed one come back whole, with the mark of the plugin that behaves. */
async function expectCallsUnharmed(): Promise<void> {
  for (const stream of [false, true]) {
    upstream.reply({ content: ['one ', 'two'] })
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.adminKey}` },
      body: JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content: 'hi' }] }),
    })
    const text = await response.text()
    expect([response.status, response.headers.get('x-good')]).toEqual([200, 'yes'])
    expect(text).toContain(stream ? '[DONE]' : 'one two')
  }
}

const js = (code: string, manifest: PluginFiles['manifest'] = {}): PluginFiles => ({
  manifest,
  files: { 'index.js': code },
})
const setup = (code: string, manifest?: PluginFiles['manifest']): PluginFiles =>
  js(moduleCode(code), manifest)
const route = (at: string): string =>
  `ctx.route({ method: 'get', path: '${at}', access: 'public', summary: 's', returns: 'text', handle: () => 'me' });`
const area = { kind: 'area', permissions: ['routes', 'store'] }

/** `bad` in a reason is the plugin's name. */
const faults: Record<
  string,
  readonly [PluginFiles, state: 'failed' | 'invalid' | 'waiting', reason: string]
> = {
  'cannot be parsed': [js('export default {'), 'failed', ''],
  'throws when it is imported': [js(`throw new Error('not here')`), 'failed', 'not here'],
  'throws what is no error': [js('throw undefined'), 'failed', 'undefined'],
  'never ends its import': [js('await new Promise(() => {})'), 'failed', 'its import took longer'],
  'imports what is not there': [js(`import 'nowhere'`), 'failed', 'nowhere'],
  'exports nothing': [js('export const a = 1'), 'failed', 'default export must be a definition'],
  'exports nonsense': [js(`export default 'module'`), 'failed', 'default export must be a definition'],
  'has settings that throw': [
    js(`export default { settings: { safeParse() { throw new Error('what settings') } }, setup() {} }`),
    'failed',
    'what settings',
  ],
  'throws in setup': [setup(`throw new Error('no setup')`), 'failed', 'no setup'],
  'rejects in setup': [setup(`return Promise.reject(new Error('later'))`), 'failed', 'later'],
  'never ends its setup': [setup('return new Promise(() => {})'), 'failed', 'its setup took longer'],
  'returns text from setup': [setup(`return 'hooks'`), 'failed', 'setup must return hooks'],
  'returns hooks that are none': [
    setup('return { request: 7 }'),
    'failed',
    'the hook request must be a function, and is',
  ],
  'misspells a hook': [
    setup('return { reqest() {} }'),
    'failed',
    'unknown hook reqest; the nearest is request',
  ],
  'adds a route without a method': [
    setup(`ctx.route({ path: '/api/me' })`, area),
    'failed',
    'the route undefined /api/me needs a method: get,',
  ],
  'adds a route without a slash': [setup(route('me'), area), 'failed', 'a path that begins with a slash'],
  'adds a route with a pattern': [setup(route('/api/:me(.*'), area), 'failed', 'a path that begins'],
  'adds a route that names a parameter twice': [setup(route('/api/{a}/{a}'), area), 'failed', 'twice'],
  'adds a route for nobody knows whom': [
    setup(route('/api/me').replace('public', 'all'), area),
    'failed',
    'needs an access: public, any, user, admin',
  ],
  'adds a route that does nothing': [
    setup(
      `ctx.route({ method: 'get', path: '/api/me', access: 'any', summary: 's', returns: 'text' })`,
      area,
    ),
    'failed',
    'needs handle, a function',
  ],
  'adds a route that returns nobody knows what': [
    setup(route('/api/me').replace(`'text'`, '7'), area),
    'failed',
    'must declare what it returns',
  ],
  'adds a wire that is none': [
    setup(`ctx.wire({ id: 'mine', path: '/v1/mine' })`, area),
    'failed',
    'the wire mine needs decode, a function',
  ],
  'changes answers and says nothing of streams': [
    setup('return { reply: (body) => body }', { permissions: ['body:write'] }),
    'failed',
    'must handle streams',
  ],
  'takes a route of the gateway': [setup(route('/api/plugins'), area), 'failed', 'extensions has already'],
  'takes a route twice': [setup(route('/api/me') + route('/api/me'), area), 'failed', 'bad has already'],
  'takes the wire of the gateway': [
    setup(
      `const nothing = () => {}
      const does = { decode: nothing, encode: nothing, encoder: nothing, error: nothing }
      ctx.wire({ id: 'mine', path: '/v1/chat/completions', body: { safeParse: nothing }, ...does })`,
      area,
    ),
    'failed',
    'which proxy has already',
  ],
  'adds a route that it did not ask for': [setup(route('/api/me'), { kind: 'area' }), 'failed', 'routes'],
  'uses the store that it did not ask for': [setup(`ctx.store.collection('a', {})`), 'failed', 'store'],
  'wants a secret that it did not ask for': [setup(`ctx.secret('KEY')`), 'failed', 'secrets:KEY'],
  'wants texts that it did not ask for': [setup('return { stream: () => undefined }'), 'failed', 'body:read'],
  'needs what is not there': [setup('', { requires: ['nobody'] }), 'waiting', 'waits for nobody'],
  'has a manifest that is none': [
    { files: { 'manifest.json': '{', 'index.js': '' } },
    'invalid',
    'manifest.json',
  ],
  'has no code': [{ files: {} }, 'invalid', 'no index.ts or index.js'],
  'is called otherwise': [setup('', { id: 'other' }), 'invalid', 'the folder is "bad"'],
  'asks for what nobody knows': [setup('', { permissions: ['world'] }), 'invalid', 'permissions'],
  'is for another contract': [setup('', { api: '^99.0.0' }), 'invalid', '^99.0.0'],
}

/** All of them are there when the gateway starts. */
const broken = Object.entries(faults).map(([fault, [files, state, reason]], index) => {
  const id = `bad-${index}`
  return { fault, id, files, state, reason: reason.replace(/\bbad\b/, id) }
})

describe.each(broken)('a plugin that $fault', ({ id, files, state, reason }) => {
  test('is told and stops nobody, whether it is there at the start or dropped in later', async () => {
    const expected = { state, problem: expect.stringContaining(reason) }
    expect(await shown(id)).toMatchObject(expected)
    await expectCallsUnharmed()
    await remove(id)
    await put(id, files)
    const body = await rescan()
    if (state === 'waiting') expect(body.added).toEqual([id])
    else expect(body.failed).toMatchObject([{ name: id, problem: expect.stringContaining(reason) }])
    expect(await shown(id)).toMatchObject(expected)
    if (state !== 'invalid')
      expect((await gateway.api('PUT', `/api/plugins/${id}`, { enabled: false })).body.state).toBe('disabled')
    await expectCallsUnharmed()
  })
})

test('a second plugin of a name is listed under another, and the first one runs', async () => {
  expect(await shown('good~2')).toMatchObject({
    state: 'invalid',
    problem: expect.stringContaining('there is already a plugin called good'),
  })
  await expectCallsUnharmed()
})

describe('a plugin that runs and', () => {
  let logged: () => string

  const bad = async (code: string): Promise<void> => {
    const before = gateway.logged.length
    logged = () => gateway.logged.slice(before).join('')
    await put('bad', setup(code, area))
    expect(await rescan()).toMatchObject({ added: ['bad'] })
    // A test before may have switched off what is called so.
    await gateway.api('PUT', '/api/plugins/bad', { enabled: true })
    expect((await shown('bad')).state).toBe('active')
  }
  afterEach(() => remove('bad'))

  const handling = (handle: string, returns = `'text'`): string =>
    `ctx.route({ method: 'get', path: '/api/me', access: 'public', summary: 's', returns: ${returns}, handle: ${handle} })`
  const own = (signal?: AbortSignal) => fetch(`${gateway.url}/api/me`, { signal: signal ?? null })

  test.each([
    ['throws in a route', handling(`() => { throw new Error('secret detail') }`)],
    ['rejects in a route', handling(`async () => { throw new Error('secret detail') }`)],
    ['throws what is no error', handling('() => { throw null }')],
    [
      'answers with what it did not say',
      handling(
        '() => 7',
        `{ parse() { throw new Error('secret detail') }, safeParse: () => ({ success: false }) }`,
      ),
    ],
  ])('%s: that request fails, without the detail, and no other', async (_, code) => {
    await bad(code)
    const response = await own()
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret detail')
    await expectCallsUnharmed()
  })

  test('never answers in a route: no other request waits for it', async () => {
    await bad(handling('() => new Promise(() => {})'))
    const leave = new AbortController()
    const waiting = own(leave.signal)
    const end = waiting.then(
      () => 'answered',
      () => 'left',
    )
    await expectCallsUnharmed()
    expect((await gateway.api('PUT', '/api/plugins/bad', { enabled: false })).status).toBe(200)
    leave.abort()
    expect(await end).toBe('left')
  })

  test.each([
    ['throws on an event', `ctx.onAny(() => { throw new Error('deaf') })`],
    ['rejects on an event', `ctx.onAny(async () => { throw new Error('deaf') })`],
    ['throws in its periodic task', `ctx.every(10, () => { throw new Error('deaf') })`],
    ['rejects in its periodic task', `ctx.every(10, async () => { throw new Error('deaf') })`],
  ])('%s is logged, and no call is harmed', async (_, code) => {
    await bad(code)
    await expectCallsUnharmed()
    await expect.poll(logged).toContain('deaf')
    await expectCallsUnharmed()
  })

  test.each([
    ['throws when it is to give something back', `ctx.own(() => { throw new Error('mine') })`],
    ['rejects when it is to give something back', `ctx.own(async () => { throw new Error('mine') })`],
  ])('%s is switched off nevertheless, and comes again', async (_, code) => {
    await bad(`${route('/api/me')} ${code}`)
    for (const enabled of [false, true, false])
      expect((await gateway.api('PUT', '/api/plugins/bad', { enabled })).body.enabled).toBe(enabled)
    expect((await own()).status).toBe(404)
    await expectCallsUnharmed()
    expect(logged()).toContain('mine')
  })
})

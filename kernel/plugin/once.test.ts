import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { writePlugin } from '../../test/plugin-folder.ts'
import { token } from '../token.ts'

/** A module with a route and a service, which it has once, however many configurations of it there are. */

interface Shared {
  readonly version: string
  readonly calls: Record<string, number>
}

const Shared = token<Shared>('test/shared')

let folder: string
let gateway: TestGateway
/** The steps of the module's code, in order. */
const did: string[] = []
/** The promise that a call of the module waits for. */
let gate: Promise<unknown> | undefined

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-once-'))
  gateway = await startGateway({ config: { plugin_dirs: [folder] } })
  Object.assign(globalThis, { onceTest: { did, wait: () => gate } })
})

afterAll(async () => {
  await gateway.close()
  await rm(folder, { recursive: true, force: true })
  Reflect.deleteProperty(globalThis, 'onceTest')
})

beforeEach(async () => {
  did.length = 0
  await put('one')
  await rescan()
})

afterEach(async () => {
  await rm(path.join(folder, 'shared'), { recursive: true, force: true })
  await rescan()
  await gateway.api('DELETE', '/api/plugins/shared/settings')
})

/** `inOnce` and `inSetup` are code that runs at the end of the two. */
const put = (version: string, { inOnce = '', inSetup = '' } = {}, manifest: object = {}) =>
  writePlugin(folder, 'shared', {
    manifest: { permissions: ['routes'], ...manifest },
    files: {
      'index.js': `
const { did, wait } = globalThis.onceTest ?? { did: [], wait() {} }
const settings = { safeParse: (data) => ({ success: true, data }) }
export default {
  settings,
  once(ctx) {
    did.push('made ${version}')
    ctx.own(() => did.push('gone ${version}'))
    const shared = { version: '${version}', calls: {} }
    ctx.route({ method: 'get', path: '/api/shared', access: 'any', summary: 'Calls', returns: 'text',
      handle: () => JSON.stringify(shared) })
    ctx.provide(Symbol.for('switchyard:test/shared'), shared)
    ctx.onAny((data, { type }) => type.name === 'module.changed' && data.name === 'shared' && did.push('heard ${version}'))
    ${inOnce}
    return shared
  },
  setup(ctx, shared) {
    ctx.own(() => did.push('left ' + ctx.id))
    ${inSetup}
    return { async request(call) {
      shared.calls[ctx.id + ' ' + ctx.mode] = (shared.calls[ctx.id + ' ' + ctx.mode] ?? 0) + 1
      await wait()
      call.trace.header('x-' + ctx.id.replace('/', '-'), shared.version)
    } }
  },
}`,
    },
  })

const rescan = async () => (await gateway.api('POST', '/api/plugins/rescan')).body
const bindings = '/api/proxy/modules/shared/bindings'
const bind = (name: string, more: object = {}) => gateway.api('POST', bindings, { name, ...more })
const told = async (): Promise<Shared> => {
  const response = await fetch(`${gateway.url}/api/shared`, {
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  })
  return (response.status === 200 ? response.json() : { status: response.status }) as Promise<Shared>
}

async function headers(): Promise<Record<string, string>> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}` },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect(response.status).toBe(200)
  await response.text()
  return Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('x-shared')))
}

test('bindings, one of them in shadow, share what their module has once', async () => {
  expect((await bind('a')).status).toBe(201)
  expect((await bind('b', { mode: 'shadow' })).status).toBe(201)
  expect(await headers()).toEqual({ 'x-shared': 'one', 'x-shared-a': 'one' })
  const calls = { 'shared enforce': 1, 'shared/a enforce': 1, 'shared/b shadow': 1 }
  expect(await told()).toEqual({ version: 'one', calls })
  expect(gateway.kernel.registry.generation.services.get(Shared)).toMatchObject({ calls })
  expect(did.filter((what) => what.startsWith('made'))).toEqual(['made one'])
  const { body } = await gateway.api('GET', '/api/plugins/shared')
  expect(body.routes).toEqual(['GET /api/shared'])
})

test('the module itself can run in shadow, and goes on with what it has when it is configured anew', async () => {
  await gateway.module('shared', { mode: 'shadow' })
  expect(await headers()).toEqual({})
  await gateway.module('shared', { mode: null, config: { other: true } })
  await bind('a')
  await gateway.api('DELETE', `${bindings}/a`)
  expect(await headers()).toEqual({ 'x-shared': 'one' })
  expect((await told()).calls).toEqual({ 'shared shadow': 1, 'shared enforce': 1 })
  expect(did.filter((what) => !what.startsWith('heard'))).toEqual([
    'made one',
    'left shared',
    'left shared',
    'left shared/a',
  ])
})

test('what it listens to it hears once, whatever was changed before', async () => {
  await bind('a')
  await gateway.module('shared', { config: { other: true } })
  did.length = 0
  await gateway.module('shared', { config: { other: false } })
  await expect.poll(() => did).toContain('heard one')
  expect(did.filter((what) => what.startsWith('heard'))).toEqual(['heard one'])
})

test('other code makes its own, and that of calls under way stays until they have ended', async () => {
  await bind('a')
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  const answered = headers()
  await expect.poll(async () => (await told()).calls).toEqual({ 'shared enforce': 1 })
  await put('two')
  expect(await rescan()).toMatchObject({ changed: ['shared'], failed: [] })
  expect(await told()).toEqual({ version: 'two', calls: {} })
  expect(did).toContain('made two')
  expect(did).not.toContain('gone one')
  gate = undefined
  resolve()
  expect(await answered).toEqual({ 'x-shared': 'one', 'x-shared-a': 'one' })
  await expect.poll(() => did).toContain('gone one')
  expect(await headers()).toEqual({ 'x-shared': 'two', 'x-shared-a': 'two' })
})

test('it goes after the last configuration of its module', async () => {
  await bind('a')
  await gateway.module('shared', { enabled: false })
  await expect.poll(() => did).toContain('gone one')
  expect(did.filter((what) => /^(left|gone)/.test(what)).toSorted()).toEqual([
    'gone one',
    'left shared',
    'left shared/a',
  ])
  expect(did.findLast((what) => /^(left|gone)/.test(what))).toBe('gone one')
  expect(await told()).toEqual({ status: 404 })
  expect(gateway.kernel.registry.generation.services.get(Shared)).toBeUndefined()
  await gateway.module('shared', { enabled: true })
  expect(await told()).toEqual({ version: 'one', calls: {} })
})

describe('when it fails', () => {
  test('in once, the code before goes on, and nothing that it had acquired is left', async () => {
    await put('two', { inOnce: `throw new Error('no disk')` })
    const { failed } = await rescan()
    expect(failed).toMatchObject([{ name: 'shared', problem: expect.stringContaining('no disk') }])
    expect(did.filter((what) => what.endsWith('two'))).toEqual(['made two', 'gone two'])
    expect(await headers()).toEqual({ 'x-shared': 'one' })
    expect((await told()).version).toBe('one')
  })

  test('in setup, what was made for it goes again, and stays where a configuration runs with it', async () => {
    await put('two', { inSetup: `if (ctx.settings.broken) throw new Error('broken')` })
    await rescan()
    await expect.poll(() => did).toContain('gone one')
    expect((await bind('a', { config: { broken: true } })).status).toBe(409)
    expect(did).not.toContain('gone two')
    expect(await told()).toMatchObject({ version: 'two' })
    await gateway.module('shared', { enabled: false })
    await expect.poll(() => did).toContain('gone two')
    did.length = 0
    const change = { enabled: true, config: { broken: true } }
    expect((await gateway.api('PUT', '/api/proxy/modules/shared', change)).status).toBe(409)
    expect(did.filter((what) => !what.startsWith('heard'))).toEqual(['made two', 'left shared', 'gone two'])
  })

  test('because setup offers what exists once, it says where that belongs', async () => {
    await put('two', { inSetup: `ctx.provide(Symbol.for('switchyard:test/own'), {})` })
    await rescan()
    const { status, body } = await bind('a')
    expect([status, body.error.message]).toEqual([409, expect.stringContaining('offers it in once')])
  })

  test('because it is to run in a worker, it says what holds there', async () => {
    const { status, body } = await gateway.api('PUT', '/api/proxy/modules/shared', { isolation: 'worker' })
    expect([status, body.error.message]).toEqual([409, expect.stringMatching(/worker.*once.*"inproc"/)])
    expect(await headers()).toEqual({ 'x-shared': 'one' })
  })
})

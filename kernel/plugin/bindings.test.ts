import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { moduleCode, writePlugin } from '../../test/plugin-folder.ts'

let folder: string
let gateway: TestGateway

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-bound-'))
  gateway = await startGateway({ config: { plugin_dirs: [folder] } })
})

afterEach(async () => {
  await gateway.close()
  await rm(folder, { recursive: true, force: true })
})

/** A module that counts its calls in its memory and says so, under its id, with its version. */
const counting = (version: string, then = '') =>
  moduleCode(`
    ${then}
    const count = ctx.memory('count', () => ({ n: 0 }))
    const name = 'x-' + ctx.id.replace('/', '-')
    return { request(call) { count.n += 1; call.trace.header(name, '${version} ' + count.n) } }
  `)

const put = (version: string, then?: string) =>
  writePlugin(folder, 'counter', { files: { 'index.js': counting(version, then) } })

const rescan = async () => (await gateway.api('POST', '/api/plugins/rescan')).body
const bind = (name: string, more: object = {}) =>
  gateway.api('POST', '/api/proxy/modules/counter/bindings', { name, ...more })

async function headers(): Promise<Record<string, string>> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}` },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
  })
  expect(response.status).toBe(200)
  await response.text()
  return Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('x-counter')))
}

test('new code is taken by a module and its bindings together, each with what it remembers', async () => {
  await put('one')
  await rescan()
  await bind('a')
  expect(await headers()).toEqual({ 'x-counter': 'one 1', 'x-counter-a': 'one 1' })
  await bind('b')
  await put('two')
  expect(await rescan()).toMatchObject({ changed: ['counter'], failed: [] })
  expect(await headers()).toEqual({ 'x-counter': 'two 2', 'x-counter-a': 'two 2', 'x-counter-b': 'two 1' })
})

test('new code that one binding cannot run with is taken by none of them', async () => {
  await put('one')
  await rescan()
  await bind('a')
  await put('two', `if (ctx.id === 'counter/a') throw new Error('not with these settings')`)
  expect((await rescan()).failed).toMatchObject([{ name: 'counter' }])
  expect(await headers()).toEqual({ 'x-counter': 'one 1', 'x-counter-a': 'one 1' })
  const { body } = await gateway.api('GET', '/api/proxy/modules/counter/bindings/a')
  expect(body).toMatchObject({ state: 'active' })
})

test('bindings go with their module, and come back with it', async () => {
  await put('one')
  await rescan()
  await bind('a')
  await rm(path.join(folder, 'counter'), { recursive: true })
  expect(await rescan()).toMatchObject({ removed: ['counter'] })
  expect(await headers()).toEqual({})
  expect(gateway.kernel.registry.bindings('counter')).toEqual([])
  await put('one')
  await rescan()
  expect(Object.keys(await headers())).toEqual(['x-counter', 'x-counter-a'])
})

test('a module is not switched on with a binding that cannot start, which is named', async () => {
  await put('one', `if (ctx.settings.broken) throw new Error('broken')`)
  await rescan()
  await gateway.module('counter', { enabled: false })
  expect((await bind('a', { config: { broken: true } })).status).toBe(201)
  const { status, body } = await gateway.api('PUT', '/api/proxy/modules/counter', { enabled: true })
  expect(status).toBe(409)
  expect(body.error.message).toContain('counter/a')
  expect(await headers()).toEqual({})
  await gateway.api('PUT', '/api/proxy/modules/counter/bindings/a', { enabled: false })
  await gateway.module('counter', { enabled: true })
  expect(Object.keys(await headers())).toEqual(['x-counter'])
})

test('a module that offers a route in setup has no bindings: the refusal names the one to remove, and then it runs', async () => {
  const offering = moduleCode(`
    ctx.route({
      method: 'get', path: '/api/counter', access: 'admin', summary: 'Count', returns: settings, handle: () => ({}),
    })
    return { request(call) { call.trace.header('x-counter', 'here') } }
  `)
  const manifest = { permissions: ['routes'] }
  await writePlugin(folder, 'counter', { manifest, files: { 'index.js': offering } })
  await rescan()
  await gateway.module('counter', { enabled: false })
  expect((await bind('a')).status).toBe(201)
  const { status, body } = await gateway.api('PUT', '/api/proxy/modules/counter', { enabled: true })
  expect([status, body.error.message]).toEqual([
    409,
    expect.stringMatching(/has already;.* in once\..* without the binding counter\/a: remove it/),
  ])
  expect((await gateway.api('DELETE', '/api/proxy/modules/counter/bindings/a')).status).toBe(200)
  await gateway.module('counter', { enabled: true })
  const refused = await bind('a')
  expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringContaining('in once')])
  expect(Object.keys(await headers())).toEqual(['x-counter'])
})

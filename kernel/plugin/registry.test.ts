import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'

let gateway: TestGateway | undefined
let folder: string | undefined

afterEach(async () => {
  await gateway?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

/** A gateway with these drop-in plugins: their code, and what their manifests say besides the usual. */
async function withPlugins(
  plugins: Record<string, { code: string; manifest?: object }>,
): Promise<TestGateway> {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-plugins-'))
  for (const [id, { code, manifest }] of Object.entries(plugins)) {
    const at = path.join(folder, id)
    await mkdir(at)
    const usual = {
      id,
      kind: 'module',
      version: '1.0.0',
      title: id,
      description: id,
      stage: 'limits',
      failure: 'open',
    }
    await writeFile(path.join(at, 'manifest.json'), JSON.stringify({ ...usual, enabled: true, ...manifest }))
    await writeFile(path.join(at, 'index.js'), code)
  }
  gateway = await startGateway({ config: { plugin_dirs: [folder] } })
  return gateway
}

const settings = `{ safeParse: (value) => ({ success: true, data: value }), parse: (value) => value }`
const code = (setup: string): string => `export default { settings: ${settings}, setup(ctx) { ${setup} } }`
const header = (name: string, value: string): string =>
  code(`return { request(call) { call.trace.header('${name}', '${value}') } }`)

const stateOf = (id: string) => {
  const { registry } = gateway!.kernel
  const plugin = registry.get(id)
  return { state: registry.stateOf(plugin), problem: plugin.problem }
}

async function answer(): Promise<Response> {
  return fetch(`${gateway!.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway!.adminKey}` },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
  })
}

test('a dropped-in module runs; what is broken beside it is told and stops nobody', async () => {
  await withPlugins({
    good: { code: header('x-good', 'yes') },
    throws: { code: code(`throw new Error('I am broken')`) },
    syntax: { code: 'export default {' },
    nothing: { code: 'export const a = 1' },
    wrong: { code: header('x-wrong', 'yes'), manifest: { stage: 'nowhere' } },
    future: { code: header('x-future', 'yes'), manifest: { api: '^99.0.0' } },
    other: { code: header('x-other', 'yes'), manifest: { id: 'another' } },
  })
  expect(stateOf('good')).toEqual({ state: 'active', problem: undefined })
  expect(stateOf('throws')).toEqual({ state: 'failed', problem: 'I am broken' })
  expect(stateOf('syntax').state).toBe('failed')
  expect(stateOf('nothing')).toMatchObject({
    state: 'failed',
    problem: expect.stringContaining('definition'),
  })
  expect(stateOf('wrong')).toMatchObject({ state: 'invalid', problem: expect.stringContaining('stage') })
  expect(stateOf('future')).toMatchObject({ state: 'invalid', problem: expect.stringContaining('99') })
  expect(stateOf('other')).toMatchObject({ state: 'invalid', problem: expect.stringContaining('folder') })
  const response = await answer()
  expect(response.status).toBe(200)
  expect(response.headers.get('x-good')).toBe('yes')
})

test('two plugins that claim the same route: the first keeps it, the second says whose it is', async () => {
  const route = code(
    `ctx.route({ method: 'get', path: '/api/mine', access: 'public', summary: 's', returns: 'text', handle: () => 'me' })`,
  )
  const manifest = { kind: 'area', permissions: ['routes'], stage: undefined, failure: undefined }
  await withPlugins({ first: { code: route, manifest }, second: { code: route, manifest } })
  expect(stateOf('first').state).toBe('active')
  expect(stateOf('second')).toMatchObject({ state: 'failed', problem: expect.stringContaining('first') })
  expect(await (await fetch(`${gateway!.url}/api/mine`)).text()).toBe('me')
})

test.each([
  ['the path of a wire', '/v1/chat/completions', '/v1/chat/completions'],
  [
    'a path with the parameters of a wire',
    '/v1beta/models/{name}:generateContent',
    '/v1beta/models/{+model}:generateContent',
  ],
  [
    'a path that fits the parameters of a wire',
    '/v1beta/models/mine:generateContent',
    '/v1beta/models/{+model}:generateContent',
  ],
])('an area that claims %s never would be asked, and does not start', async (_, at, taken) => {
  const area = { kind: 'area', permissions: ['routes'], stage: undefined, failure: undefined }
  const route = (method: string, path: string): string =>
    `ctx.route({ method: '${method}', path: '${path}', access: 'public', summary: 's', returns: 'text', handle: () => 'me' })`
  await withPlugins({
    claims: { code: code(route('post', at)), manifest: area },
    reads: { code: code(route('get', at)), manifest: area },
    broader: { code: code(route('post', '/v1/{+rest}')), manifest: area },
  })
  expect(stateOf('claims')).toEqual({
    state: 'failed',
    problem: expect.stringContaining(`the route POST ${at}, which the wire at ${taken} answers`),
  })
  expect(stateOf('reads').state).toBe('active')
  expect(stateOf('broader').state).toBe('active')
  const response = await fetch(`${gateway!.url}/v1/anything`, { method: 'POST' })
  expect(await response.text()).toBe('me')
})

test('a plugin that asks for more than its manifest says does not start', async () => {
  const route = code(
    `ctx.route({ method: 'get', path: '/api/mine', access: 'public', summary: 's', returns: 'text', handle: () => '' })`,
  )
  await withPlugins({ greedy: { code: route } })
  expect(stateOf('greedy')).toMatchObject({ state: 'failed', problem: expect.stringContaining('permission') })
})

test('what a plugin needs comes first; without it the plugin waits, and starts when it comes', async () => {
  await withPlugins({
    a: { code: header('x-a', 'yes'), manifest: { requires: ['b'] } },
    b: { code: header('x-b', 'yes'), manifest: { enabled: false } },
  })
  expect(stateOf('a')).toMatchObject({ state: 'waiting', problem: expect.stringContaining('b') })
  const { registry } = gateway!.kernel
  await registry.change('b', { enabled: true })
  expect(stateOf('a').state).toBe('active')
  await expect(registry.change('b', { enabled: false })).rejects.toMatchObject({ status: 409 })
})

test('who failed for a reason of its own is not tried again whenever another plugin is switched on', async () => {
  Object.assign(globalThis, { triedForTest: 0 })
  await withPlugins({
    fails: { code: code(`globalThis.triedForTest += 1; throw new Error('never')`) },
    other: { code: header('x-other', 'yes') },
  })
  const { registry } = gateway!.kernel
  await registry.change('other', { enabled: false })
  await registry.change('other', { enabled: true })
  expect((globalThis as { triedForTest?: number }).triedForTest).toBe(1)
  await expect(registry.change('fails', { enabled: true })).rejects.toThrow('never')
  await registry.change('fails', { enabled: false })
  expect(stateOf('fails').state).toBe('disabled')
})

test('a change whose setup fails leaves what ran before running, and says why', async () => {
  await withPlugins({
    fussy: {
      code: code(`if (ctx.settings.bad) throw new Error('not like this')
        return { request(call) { call.trace.header('x-fussy', String(ctx.settings.n ?? 0)) } }`),
    },
  })
  const { registry } = gateway!.kernel
  await registry.change('fussy', { config: { n: 1 } })
  await expect(registry.change('fussy', { config: { bad: true } })).rejects.toThrow('not like this')
  expect(stateOf('fussy')).toMatchObject({ state: 'active', problem: 'not like this' })
  expect((await answer()).headers.get('x-fussy')).toBe('1')
  await registry.change('fussy', { config: { n: 2 } })
  expect(stateOf('fussy').problem).toBeUndefined()
  expect((await answer()).headers.get('x-fussy')).toBe('2')
})

test('changes asked for at the same time are made one after the other', async () => {
  await withPlugins({
    slow: {
      code: code(`return new Promise((resolve) => setTimeout(() => resolve({
        request(call) { call.trace.header('x-slow', String(ctx.settings.n)) } }), 20 - 5 * ctx.settings.n))`),
      manifest: { enabled: false },
    },
  })
  const { registry } = gateway!.kernel
  const before = registry.generation.number
  await Promise.all([1, 2, 3].map((n) => registry.change('slow', { enabled: true, config: { n } })))
  expect(registry.generation.number).toBe(before + 3)
  expect((await answer()).headers.get('x-slow')).toBe('3')
})

test('memory outlives a reconfigure, timers and listeners do not', async () => {
  await withPlugins({
    keeps: {
      code: code(`const seen = ctx.memory('seen', () => ({ setups: 0 }))
        seen.setups += 1
        return { request(call) { call.trace.header('x-setups', String(seen.setups)) } }`),
    },
  })
  const { registry } = gateway!.kernel
  await registry.change('keeps', { config: { a: 1 } })
  await registry.change('keeps', { config: { a: 2 } })
  expect((await answer()).headers.get('x-setups')).toBe('3')
})

test('a guard that is asked for and cannot start refuses calls', async () => {
  const guard = { code: code(`throw new Error('no rules')`), manifest: { failure: 'closed' } }
  await withPlugins({ guard })
  const response = await answer()
  expect(response.status).toBe(500)
  expect(await response.json()).toMatchObject({ error: { module: 'guard' } })
  await gateway!.kernel.registry.change('guard', { enabled: false })
  expect((await answer()).status).toBe(200)
})

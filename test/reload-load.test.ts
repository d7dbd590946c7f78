import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { adminKey } from './harness.ts'
import { moduleCode, type PluginFiles, writePlugin } from './plugin-folder.ts'
import { type GatewayProcess, startProcess } from './process.ts'
import { runs } from './suite/runs.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

vi.setConfig({ testTimeout: 300_000 })

/** What a reload of a plugin of three small files may cost for good, in bytes: the runtime keeps its code. */
const boundPerReload = 64 * 1024

/** Reloads under load: those until the process has what it keeps anyway, and all. */
const warmUp = 50
const reloads = warmUp + runs(150).numRuns

let folder: string
let upstream: Upstream
let gateway: GatewayProcess

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-load-'))
  upstream = await startUpstream()
  const config = {
    plugin_dirs: ['mine'],
    auth: { admin_rpm: 1_000_000 },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(config))
  await put('probe', probe)
  await put('version', version(0))
  gateway = await startProcess({ SERVICE_ADMIN_KEY: adminKey, SERVICE_LOG_LEVEL: 'silent' }, folder)
})

afterEach(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

const put = (id: string, plugin: PluginFiles): Promise<string> =>
  writePlugin(path.join(folder, 'mine'), id, plugin)

/** Says in a header of every answer, and in every chunk of a stream, which version it is. Acquires one of everything. */
const version = (n: number): PluginFiles => ({
  manifest: { permissions: ['body:write', 'routes'] },
  files: {
    'index.ts': `import { z } from 'zod'
import { Chunk, ModuleChanged } from 'switchyard'
import { n } from './lib/number.ts'
${moduleCode(`
  const state = ctx.memory('state', () => ({ setups: 0 }))
  state.setups += 1
  ctx.every(50, () => {})
  ctx.on(ModuleChanged, () => {})
  ctx.route({ method: 'get', path: '/api/version', access: 'public', summary: 'Version', returns: z.object({ n: z.number(), setups: z.number() }), handle: () => ({ n, setups: state.setups }) })
  return {
    request(call) { call.trace.header('x-version', String(n)) },
    stream: () => ({
      push(chunk, out) {
        const [choice] = chunk.data.choices
        if (!choice?.delta?.content) return out.emit(chunk)
        const delta = { ...choice.delta, content: '<' + n + '>' }
        out.emit(Chunk.of({ ...chunk.data, choices: [{ ...choice, delta }] }))
      },
    }),
  }`)}`,
    'lib/number.ts': `export { n } from './value.ts'\n`,
    'lib/value.ts': `export const n: number = ${n}\n// ${'x'.repeat(2_000)}\n`,
  },
})

/** Tells what the process holds, after a collection of garbage. */
const probe: PluginFiles = {
  manifest: { kind: 'area', permissions: ['routes'] },
  files: {
    'index.js': `import { z } from 'zod'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
${moduleCode(`
  const returns = z.object({ heap: z.number(), timers: z.number() })
  ctx.route({ method: 'get', path: '/api/probe', access: 'public', summary: 'Probe', returns, handle() {
    collect()
    const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    return { heap: process.memoryUsage().heapUsed, timers }
  } })`)}`,
  },
}

async function get<T>(at: string): Promise<T> {
  return (await fetch(gateway.url + at)).json() as Promise<T>
}

const held = () => get<{ heap: number; timers: number }>('/api/probe')

async function reload(n: number): Promise<void> {
  await put('version', version(n))
  const response = await fetch(`${gateway.url}/api/plugins/version/reload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}` },
  })
  expect(await response.json()).toMatchObject({ reloaded: true, state: 'active', problem: null })
}

function ask(stream: boolean): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}` },
    body: JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content: 'hi' }] }),
  })
}

/** Which versions spoke in an answer: those in its header and in its chunks. */
async function speakers(response: Response): Promise<string[]> {
  expect(response.status).toBe(200)
  const text = await response.text()
  if (response.headers.get('content-type')?.includes('event-stream')) expect(text).toMatch(/\[DONE\]\s*$/)
  const marks = [...text.matchAll(/<(\d+)>/g)].map((found) => found[1]!)
  return [...new Set([response.headers.get('x-version')!, ...marks])]
}

const staged = async () =>
  (await readdir(path.join(folder, 'data', 'staged'))).filter((name) => name.startsWith('version@'))

test(`${reloads} reloads of a changed plugin under load fail no call, and cost a bounded amount of memory`, async () => {
  // Each call lasts longer than a reload, so that some are always under way and versions change in the middle of them.
  upstream.reply({ content: ['a ', 'b ', 'c '], delayMs: 100, gapMs: 50, times: Number.POSITIVE_INFINITY })
  let running = true
  let calls = 0
  const load = Array.from({ length: 4 }, async (_, worker) => {
    while (running) {
      expect(await speakers(await ask(worker % 2 === 0))).toHaveLength(1)
      calls += 1
    }
  })
  for (let n = 1; n <= warmUp; n += 1) await reload(n)
  const warm = await held()
  for (let n = warmUp + 1; n <= reloads; n += 1) await reload(n)
  running = false
  await Promise.all(load)
  expect(calls).toBeGreaterThan(40)
  expect(await get('/api/version')).toEqual({ n: reloads, setups: reloads + 1 })
  await vi.waitFor(async () => expect(await staged()).toHaveLength(1), { timeout: 20_000 })
  const after = await held()
  expect(after.timers).toBeLessThanOrEqual(warm.timers + 2)
  expect((after.heap - warm.heap) / (reloads - warmUp)).toBeLessThan(boundPerReload)
})

test('of 1,000 streams that run while versions are swapped, each ends with the version it began with', async () => {
  const content = Array.from({ length: 20 }, (_, n) => `word${n} `)
  const gate = Promise.withResolvers<void>()
  upstream.reply({ content, gate: { opened: gate.promise, after: 5 }, times: 1_000 })
  let ended = 0
  const spoken: Promise<string[]>[] = []
  for (let n = 1; n <= 5; n += 1) {
    const begun = await Promise.all(Array.from({ length: 200 }, () => ask(true)))
    spoken.push(...begun.map((stream) => speakers(stream).finally(() => (ended += 1))))
    await reload(n)
  }
  expect([spoken.length, ended]).toEqual([1_000, 0])
  gate.resolve()
  const spoke = await Promise.all(spoken)
  expect(spoke.filter((versions) => versions.length !== 1)).toEqual([])
  expect(new Set(spoke.flat())).toEqual(new Set(['0', '1', '2', '3', '4']))
  await vi.waitFor(async () => expect(await staged()).toHaveLength(1), { timeout: 20_000 })
})

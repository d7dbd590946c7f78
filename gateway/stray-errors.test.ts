import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminKey } from '../test/harness.ts'
import { moduleCode, writePlugin } from '../test/plugin-folder.ts'
import { type GatewayProcess, startProcess } from '../test/process.ts'

let folder: string
let gateway: GatewayProcess

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-stray-'))
  await writeFile(path.join(folder, 'service.yaml'), 'plugin_dirs: [mine]\n')
})

afterEach(async () => {
  await gateway.end('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** The timers ring when the gateway listens, however slowly it starts. */
const ways = {
  timer: `setTimeout(() => { throw new Error('from a timer') }, 1500)`,
  promise: `void Promise.reject(new Error('from a promise'))`,
  emitter: `const own = new EventEmitter(); setTimeout(() => own.emit('error', new Error('from an emitter')), 1500)`,
  signal: `ctx.signal.addEventListener('abort', () => { throw new Error('from a signal') })`,
}

async function start(setups: Record<string, string>): Promise<void> {
  for (const [id, setup] of Object.entries(setups)) {
    const code = `import { EventEmitter } from 'node:events'\n${moduleCode(setup)}`
    await writePlugin(path.join(folder, 'mine'), id, { files: { 'index.js': code } })
  }
  gateway = await startProcess({ SERVICE_ADMIN_KEY: adminKey }, folder)
}

const api = async (method: string, at: string, body?: object) => {
  const response = await fetch(gateway.url + at, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  return { status: response.status, body: (await response.json()) as any }
}

test('errors of plugins that nobody catches are told, and the gateway goes on', async () => {
  await start(ways)
  const off = await api('PUT', '/api/plugins/signal', { enabled: false })
  expect(off).toMatchObject({ status: 200, body: { state: 'disabled' } })
  for (const id of Object.keys(ways)) {
    const message = `from ${id === 'emitter' ? 'an' : 'a'} ${id}`
    await expect.poll(gateway.output, { timeout: 10_000 }).toContain(message)
    const { events } = (await api('GET', `/api/proxy/modules/${id}/events`)).body
    // An error that is left behind before the gateway listens is only logged.
    if (id !== 'promise') expect(events).toMatchObject([{ kind: 'stray', detail: message }])
  }
  expect((await ask()).status).toBe(200)
  expect(gateway.child.exitCode).toBeNull()
})

const ask = () =>
  api('POST', '/v1/chat/completions', { model: 'mock', messages: [{ role: 'user', content: 'hi' }] })

test('an exception of which nobody knows where it is from ends the process, once running calls have ended', async () => {
  const hook = `async request() {
    setTimeout(() => { throw 'only text' }, 0)
    await new Promise((done) => setTimeout(done, 300))
  }`
  await start({ text: `return { ${hook} }` })
  expect((await ask()).status).toBe(200)
  await expect.poll(() => gateway.child.exitCode, { timeout: 10_000 }).toBe(1)
  expect(gateway.output()).toContain('an uncaught error ends the process')
  expect(gateway.output()).toContain('"origin":"uncaughtException"')
})

test('a promise that failed alone, and a connection that broke off, are told, and the gateway goes on', async () => {
  const broken = `Object.assign(new Error('broken'), { code: 'ECONNRESET', stack: 'at a socket' })`
  const hook = `request() {
    void Promise.reject('only text')
    setTimeout(() => { throw ${broken} }, 0)
  }`
  await start({ alone: `return { ${hook} }` })
  for (let n = 0; n < 2; n++) expect((await ask()).status).toBe(200)
  for (const said of ['an unhandled promise rejection', 'an unhandled error of a connection'])
    await expect.poll(gateway.output).toContain(said)
  expect(gateway.child.exitCode).toBeNull()
})

import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { kernelServices } from '../contract/index.ts'
import type { StoreWatch } from '../gateway/store-watch.ts'
import { toGatewayError } from '../kernel/to-gateway-error.ts'
import { mountSmallDisk, type SmallDisk } from '../storage/conformance/small-disk.ts'
import { startGateway, type TestGateway } from './harness.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

const why = 'mounting a disk that can be full is not allowed here'
let disk: SmallDisk | undefined
let upstream: Upstream
let gateway: TestGateway
let userKey: string

beforeAll(async () => {
  disk = await mountSmallDisk(64)
  if (!disk) return
  upstream = await startUpstream()
  const config = { storage: { min_free: '8mb' } }
  gateway = await startGateway({ upstream, dataDir: path.join(disk.folder, 'data'), config })
  for (const module of ['cachelayer', 'maskmode', 'rateshield'])
    await gateway.module(module, { enabled: true })
  userKey = (await gateway.signUp('before')).key
})

afterAll(async () => {
  if (!disk) return
  await gateway.close()
  await upstream.close()
  await disk[Symbol.asyncDispose]()
})

beforeEach(({ skip }) => {
  if (!disk) skip(why)
})

const look = () => gateway.kernel.container.resolve<StoreWatch>(kernelServices.storeState).look()
const signUp = (name: string) =>
  gateway.api('POST', '/api/auth/signup', { email: `${name}@example.com`, name: 'Somebody' })

/** A model call; gives the id of its trace. */
async function call(text: string, stream = false): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${userKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content: text }] }),
  })
  await response.text()
  expect(response.status).toBe(200)
  return response.headers.get('x-trace-id')!
}

test('bodies are the first that a disk short of space is spared, with a warning', async () => {
  const before = await call('with a body')
  await disk!.fill(7)
  await look()
  const without = await call('without a body')
  expect((await gateway.api('GET', `/api/observe/traces/${before}`)).body.body_status).toBe('stored')
  expect((await gateway.api('GET', `/api/observe/traces/${without}`)).body.body_status).toBe('off')
  const degraded = { status: 'degraded', reason: expect.stringContaining('short of space') }
  expect((await gateway.api('GET', '/health')).body).toEqual(degraded)
  expect((await gateway.api('GET', '/api/observe/status')).body).toMatchObject({
    status: 'degraded',
    bodies: 'paused',
  })
  expect(gateway.logged.filter((line) => line.includes('short of space'))).toHaveLength(1)
  await signUp('while-short').then(({ status }) => expect(status).toBe(201))

  await disk!.free()
  await look()
  const after = await call('with a body again')
  expect((await gateway.api('GET', `/api/observe/traces/${after}`)).body.body_status).toBe('stored')
  expect((await gateway.api('GET', '/health')).body).toEqual({ status: 'ok' })
})

test('on a full disk calls go on, changes are refused, and all is well again when there is room', async () => {
  await disk!.fill()
  let n = 0
  await vi.waitFor(async () => expect((await signUp(`full-${n++}`)).status).toBe(503), 20_000)
  const refused = await signUp('refused')
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(refused.body.error).toMatchObject({
    code: 'internal_error',
    type: 'unavailable',
    message: expect.stringMatching(/refuses writes.*disk/),
  })
  const reason = expect.stringContaining('The store refuses writes')
  expect((await gateway.api('GET', '/health')).body).toEqual({ status: 'degraded', reason })
  expect(await gateway.api('GET', '/api/health')).toMatchObject({ status: 200, body: { status: 'degraded' } })
  const ids: string[] = []
  for (let call = 0; call < 20; call++) ids.push(await callOnFull(call))
  const status = await gateway.api('GET', '/api/status')
  expect(status.body).toMatchObject({
    status: 'degraded',
    components: { store: { status: 'degraded', detail: reason } },
  })
  expect(status.body.queues.traces.depth).toBeGreaterThanOrEqual(ids.length)
  expect((await gateway.api('GET', '/api/observe/traces')).status).toBe(200)

  const ofFile = await writeFile(path.join(disk!.folder, 'file'), Buffer.alloc(2 ** 20)).catch(
    (error) => error,
  )
  expect(toGatewayError(ofFile)).toMatchObject({ status: 503, message: expect.stringContaining('ENOSPC') })

  await disk!.free()
  await look()
  await vi.waitFor(
    async () => expect((await gateway.api('GET', '/health')).body).toEqual({ status: 'ok' }),
    30_000,
  )
  expect((await signUp('refused')).status).toBe(201)
  await vi.waitFor(async () => {
    const found = (await gateway.api('GET', '/api/observe/traces?limit=100')).body.traces
    expect(found.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(ids))
  }, 10_000)
  const said = gateway.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')
  expect(said[0]).toMatchObject({ msg: 'the store refuses writes', reason: 'No space left on device' })
  const others = said.filter(({ msg }) => msg !== 'the store refuses writes')
  expect(others.filter(({ code, err }) => (code ?? err?.code) !== 'STORE_FAILED')).toEqual([])
}, 90_000)

const callOnFull = (n: number): Promise<string> => call(`on a full disk ${n}`, n % 2 === 1)

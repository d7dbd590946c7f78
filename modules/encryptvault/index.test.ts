import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kernelServices, type Personal } from '#kernel'
import { openLevel } from '../../storage/level.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { writePlugin } from '../../test/plugin-folder.ts'
import { placesOf } from '../../test/raw-store.ts'
import { traceOf } from '../../test/trace.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let folder: string
let upstream: Upstream
let gateway: TestGateway
let organisations: string

/** Every user is a tenant alone. */
const tenants = `
const settings = { safeParse: (data) => ({ success: true, data }) }
export default {
  settings,
  setup(ctx) { ctx.provide(Symbol.for('switchyard:tenants'), { tenantOf: (id) => 'of-' + id }) },
}`

const start = (env: Record<string, string> = {}) =>
  startGateway({
    env,
    upstream,
    dataDir: path.join(folder, 'data'),
    plugins: [organisations],
  })

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-vault-'))
  upstream = await startUpstream()
  organisations = await writePlugin(folder, 'organisations', {
    manifest: { kind: 'area', provides: ['tenants'] },
    files: { 'index.ts': tenants },
  })
  gateway = await start()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

/** Asks, and returns the id of the trace. */
async function say(content: string, key: string = gateway.adminKey, stream = false): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content }] }),
  })
  await response.text()
  expect(response.status).toBe(200)
  return (await traceOf(gateway, response)).id
}

const trace = async (id: string) => (await gateway.api('GET', `/api/observe/traces/${id}`)).body
const contentOf = ({ request }: { request: { messages: { content: string }[] } }) =>
  request.messages[0]?.content

/** Ends the gateway, looks, and starts it again. */
async function whileClosed<T>(look: () => Promise<T>): Promise<T> {
  await gateway.close()
  const seen = await look()
  gateway = await start()
  return seen
}

/** Bodies as they lie in the store. */
const stored = (...ids: string[]): Promise<(string | undefined)[]> => whileClosed(() => bodiesOf(ids))

async function bodiesOf(ids: readonly string[]): Promise<(string | undefined)[]> {
  const engine = await openLevel(path.join(folder, 'data', 'db'))
  const log = engine
    .namespace('plugins')
    .namespace('observe')
    .log<{ id: string; at: number }>('traces', {
      id: ({ id }) => id,
      time: ({ at }) => at,
    })
  const bodies = await Promise.all(ids.map((id) => log.body(id)))
  await engine.close()
  return bodies
}

test('bodies lie sealed in the store, and the API shows, finds and keeps them over a restart', async () => {
  const open = await say('the marker is tamarind')
  await gateway.module('encryptvault', { enabled: true })
  upstream.reply({ content: ['tamarind ', 'it is'] })
  const [whole, streamed] = [
    await say('the marker is saffron'),
    await say('streamed saffron', undefined, true),
  ]
  for (const id of [whole, streamed]) expect((await trace(id)).body_status).toBe('stored')
  expect((await gateway.api('GET', '/api/observe/traces?q=saffron')).body.total).toBe(2)

  const [before, ...sealed] = await stored(open, whole, streamed)
  expect(before).toContain('the marker is tamarind')
  for (const body of sealed) {
    expect(body).toMatch(/^sealed:/)
    expect(body).not.toMatch(/saffron|tamarind/)
  }
  expect(contentOf(await trace(whole))).toBe('the marker is saffron')
  expect((await trace(streamed)).response.choices[0].message.content).toBeDefined()
  await gateway.module('encryptvault', { enabled: false })
  expect(contentOf(await trace(whole))).toBe('the marker is saffron')
  expect((await gateway.api('GET', '/api/observe/traces?q=saffron')).body.total).toBe(2)
})

test('a tenant whose data is erased leaves traces whose bodies nobody can read', async () => {
  const [ada, bob] = [await gateway.signUp('ada'), await gateway.signUp('bob')]
  await gateway.module('encryptvault', { enabled: true })
  const [hers, his] = [await say('hers', ada.key), await say('his', bob.key)]
  const personal = gateway.kernel.container.resolve<Personal>(kernelServices.personal)
  expect(await personal.erase({ kind: 'tenant', id: `of-${ada.userId}` }, 'request')).toEqual({ sealing: 1 })
  expect(await trace(hers)).toMatchObject({ body_status: 'erased', request: null, response: null })
  expect(contentOf(await trace(his))).toBe('his')
  expect(contentOf(await trace(await say('again', ada.key)))).toBe('again')
})

test('a session is found and shown as long as its words can be opened, whether bodies are stored or not', async () => {
  const cleo = await gateway.signUp('cleo')
  await gateway.module('encryptvault', { enabled: true })
  const sessions = async (of: string) => {
    const { body } = await gateway.api('GET', `/api/observe/traces?session_id=${of}`)
    return body.traces.map(({ session_id }: { session_id: string | null }) => session_id)
  }
  const told = { model: 'm', usage: { input: 1, output: 1 }, session_id: 'fennel', request_id: 'anise' }
  const shown = { ...told, error: { code: 'told', message: 'no dill' } }
  const { body: made } = await gateway.api('POST', '/api/observe/traces', shown, cleo.key)
  expect(made).toMatchObject({ session_id: 'fennel', request_id: 'anise', error: { message: 'no dill' } })
  for (const word of ['fennel', 'anise', 'dill'])
    expect(await whileClosed(() => placesOf(path.join(folder, 'data'), word))).toEqual([])
  expect(await trace(made.id)).toMatchObject({
    session_id: 'fennel',
    request_id: 'anise',
    error: { message: 'no dill' },
  })
  await gateway.module('encryptvault', { enabled: false })
  expect((await gateway.api('POST', '/api/observe/traces', told, cleo.key)).status).toBe(201)
  expect(await sessions('fennel')).toEqual(['fennel', 'fennel'])
  expect(await sessions('fenne')).toEqual([])
  const personal = gateway.kernel.container.resolve<Personal>(kernelServices.personal)
  await personal.erase({ kind: 'tenant', id: `of-${cleo.userId}` }, 'request')
  expect(await sessions('fennel')).toEqual(['fennel', null])
  expect(await trace(made.id)).toMatchObject({
    session_id: null,
    request_id: null,
    error: { message: '[sealed]' },
  })
})

test('under another encryption key bodies and words are not told, and nothing fails', async () => {
  await gateway.module('encryptvault', { enabled: true })
  const { key } = await gateway.signUp('ivy')
  const id = await say('the marker is sumac', key)
  const asked = await gateway.api('POST', '/v1/responses', { model: 'gpt-4o-mini', input: 'Hello' }, key)
  const kept = async () => (await gateway.api('GET', `/v1/responses/${asked.body.id}`, undefined, key)).status
  expect(await kept()).toBe(200)
  await gateway.close()
  // The generated key would open what was sealed before there was a passphrase.
  const [inUse, moved] = ['encryption.key', 'moved'].map((name) => path.join(folder, 'data', 'secrets', name))
  await rename(inUse!, moved!)
  gateway = await start({ SERVICE_ENCRYPTION_KEY: 'another' })
  expect(await trace(id)).toMatchObject({ body_status: 'unreadable', request: null, response: null })
  const { status, body } = await gateway.api('GET', '/api/observe/traces?q=sumac')
  expect([status, body.total]).toEqual([200, 0])
  expect((await gateway.api('GET', '/api/insights')).status).toBe(200)
  expect(await kept()).toBe(404)
  await gateway.close()
  await rename(moved!, inUse!)
  gateway = await start()
  expect(contentOf(await trace(id))).toBe('the marker is sumac')
})

test('with a list of tenants only their bodies are sealed, told traces included', async () => {
  const { userId, key } = await gateway.signUp('eve')
  await gateway.module('encryptvault', { enabled: true, config: { tenants: [`of-${userId}`] } })
  const told = await gateway.api(
    'POST',
    '/api/observe/traces',
    { model: 'm', request: { marker: 'cardamom' }, usage: { input: 1, output: 1 } },
    key,
  )
  expect(told.body).toMatchObject({ body_status: 'stored', request: { marker: 'cardamom' } })
  const [own, operators] = await stored(told.body.id, await say('of the operator'))
  expect(own).toMatch(/^sealed:/)
  expect(operators).toContain('of the operator')
})

test('what an admin changes of the feedback of a tenant stays sealed for the tenant', async () => {
  const { userId, key } = await gateway.signUp('rita')
  await gateway.module('encryptvault', { enabled: true, config: { tenants: [`of-${userId}`] } })
  const said = { trace_id: await say('Hello', key), rating: 1, comment: 'quetzal-comment' }
  const { body } = await gateway.api('POST', '/api/trust/feedback', said, key)
  const at = `/api/trust/feedback/${body.id}`
  const changed = await gateway.api('PUT', at, { label: 'seen' })
  expect(changed.body).toMatchObject({ label: 'seen', comment: 'quetzal-comment' })
  expect(await whileClosed(() => placesOf(path.join(folder, 'data'), 'quetzal-'))).toEqual([])
})

test('answers of the cache lie sealed on disk, serve the next process, and are gone with their tenant', async () => {
  const marker = 'turmeric-in-the-cache'
  const { userId, key } = await gateway.signUp('cached')
  await gateway.module('cachelayer', { enabled: true })
  await gateway.module('encryptvault', { enabled: true, config: { tenants: 'all' } })
  upstream.reply({ content: `It is ${marker}` })
  const seen = upstream.requests.length
  await say(`Which? ${marker}`, key)
  const places = await whileClosed(() => placesOf(path.join(folder, 'data'), marker))
  expect(places).toEqual([])
  expect((await trace(await say(`Which? ${marker}`, key))).status).toBe('cache_hit')
  expect(upstream.requests.length).toBe(seen + 1)
  const personal = gateway.kernel.container.resolve<Personal>(kernelServices.personal)
  await personal.erase({ kind: 'tenant', id: `of-${userId}` }, 'request')
  await whileClosed(async () => {})
  await say(`Which? ${marker}`, key)
  expect(upstream.requests.length).toBe(seen + 2)
})

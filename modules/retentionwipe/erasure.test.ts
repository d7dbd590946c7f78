import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Ledger, Signing } from '#kernel'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { writePlugin } from '../../test/plugin-folder.ts'
import { placesOf } from '../../test/raw-store.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const routes = '/api/modules/retentionwipe'

let folder: string
let plugin: string
let upstream: Upstream
let gateway: TestGateway

/** Keeps the texts of users' calls as files and as inputs of jobs that wait, and fails to erase when it is told to. */
const hoarder = `
const settings = { safeParse: (data) => ({ success: true, data }) }
const any = { safeParse: (data) => ({ success: true, data }), parse: (data) => data }
async function* bytes(text) { yield Buffer.from(text) }
export default {
  settings,
  setup(ctx) {
    const files = ctx.store.bodies('files')
    const rows = ctx.store.collection('rows', { schema: any, indexes: { user: ({ user }) => user } })
    const jobs = ctx.use(Symbol.for('switchyard:service:jobs')).define(ctx, 'later', { input: any, run() {} })
    const of = (id) => ({ index: 'user', equals: id })
    ctx.personal({
      count: ({ id }) => rows.count(of(id)),
      async erase({ id }) {
        if (ctx.settings.fails) throw new Error('not now')
        let erased = 0
        for await (const [row, { job }] of rows.scan(of(id))) {
          await jobs.delete(job)
          if (await files.delete(row, (tx) => tx.delete(rows, row))) erased += 1
        }
        return erased
      },
    })
    return {
      async request(call) {
        if (call.principal.userId === undefined) return
        const text = JSON.stringify(call.request.messages ?? '')
        const job = await jobs.add({ text }, { at: Date.now() + 1e9 })
        const row = { user: call.principal.userId, job }
        await files.write(call.id, bytes(text.repeat(5)), (tx) => tx.put(rows, call.id, row))
      },
    }
  },
}
`

const start = () =>
  startGateway({
    upstream,
    dataDir: path.join(folder, 'data'),
    plugins: [plugin],
    config: { modules: { agentguard: { enabled: true }, cachelayer: { enabled: true } } },
  })

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-wipe-'))
  upstream = await startUpstream()
  plugin = await writePlugin(folder, 'hoarder', {
    manifest: { permissions: ['store', 'body:read', 'service:jobs'], requires: ['jobs'] },
    files: { 'index.ts': hoarder },
  })
  gateway = await start()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

/** A user that has left a text wherever texts are kept. */
async function leaving(marker: string): Promise<string> {
  const { userId, key } = await gateway.signUp(marker)
  upstream.reset()
  upstream.reply({ content: `You said ${marker}.`, times: Number.POSITIVE_INFINITY })
  const post = (at: string, body: object, headers: Record<string, string> = {}) =>
    fetch(gateway.url + at, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const messages = [{ role: 'user', content: `I am ${marker}` }]
  for (const stream of [false, true]) {
    const session = { 'x-session-id': `session of ${marker}` }
    const said = await post('/v1/chat/completions', { model: 'gpt-4o-mini', messages, stream }, session)
    await said.text()
    const trace_id = said.headers.get('x-trace-id')
    const feedback = { trace_id, rating: 1, comment: `${marker} is pleased`, correction: marker }
    const judge = async () => (await gateway.api('POST', '/api/trust/feedback', feedback, key)).status
    await expect.poll(judge).toBe(201)
  }
  await (await post('/v1/responses', { model: 'gpt-4o-mini', input: `Again, ${marker}` })).text()
  return userId
}

/** Ends the gateway, looks, and starts it again. */
async function placesInStore(text: string): Promise<string[]> {
  await gateway.close()
  const places = await placesOf(path.join(folder, 'data'), text)
  gateway = await start()
  return places
}

const erase = async (user_id: string) => (await gateway.api('POST', `${routes}/erase`, { user_id })).body.id

const jobOf = (id: string) => encodeURIComponent(`retentionwipe.erasure:${id}`)

const report = async (id: string) => (await gateway.api('GET', `${routes}/reports/${id}`)).body

const completed = (id: string) =>
  expect.poll(async () => (await report(id)).status, { timeout: 30_000 }).toBe('completed')

/** The addresses of all lists and pages that need nothing to be read. */
async function readable(): Promise<string[]> {
  const { body } = await gateway.api('GET', '/api/openapi.json')
  return Object.entries(
    body.paths as Record<string, Record<string, { parameters?: { required?: boolean }[] }>>,
  )
    .filter(([at, { get }]) => get && !at.includes('{') && !at.includes('/live') && !at.includes('openapi'))
    .filter(([, { get }]) => !get!.parameters?.some(({ required }) => required))
    .map(([at]) => at)
}

test('what a user said is nowhere after the erasure, also of plugins that are switched off', async () => {
  const [ada, bob] = [await leaving('tamarind'), await leaving('saffron')]
  const user = (name: string) => expect.stringContaining(name)
  const off = ['agentguard', 'cachelayer', 'hoarder']
  for (const name of off) await gateway.module(name, { enabled: false })
  const before = await placesInStore('tamarind')
  for (const part of ['agentguard', 'cachelayer', 'hoarder', 'observe', 'trust'])
    expect(before).toContainEqual(user(`plugins/${part}/`))
  expect(before).toContainEqual(user('hoarder/bodies/'))
  // Contents of jobs are encrypted, so only their number shows that they are gone.
  const jobs = async () => (await gateway.api('GET', '/api/jobs?kind=hoarder.later&limit=1')).body.total
  const jobsOfBoth = await jobs()
  expect(jobsOfBoth).toBeGreaterThan(0)

  const dry = await gateway.api('POST', `${routes}/erase`, { user_id: ada, dry_run: true })
  expect(dry.status).toBe(200)
  expect(dry.body).toMatchObject({ dry_run: true, unclaimed: [] })
  const { found } = dry.body
  expect(Object.keys(found)).toEqual(
    expect.arrayContaining(['agentguard', 'cachelayer', 'hoarder', 'observe', 'proxy', 'sealing', 'trust']),
  )

  const id = await erase(ada)
  await completed(id)
  expect((await report(id)).report).toMatchObject({ found, left: {}, unclaimed: [] })
  expect(await jobs()).toBe(jobsOfBoth / 2)
  for (const name of off) await gateway.module(name, { enabled: true })
  const addresses = await readable()
  expect(addresses.length).toBeGreaterThan(40)
  for (const at of addresses) {
    const response = await fetch(gateway.url + at, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    })
    const text = await response.text()
    // The account stays, and this one has its name there.
    if (at !== '/api/auth/users') expect(text, at).not.toContain('tamarind')
  }
  for (const query of ['traces?q=tamarind', `traces?user_id=${ada}`])
    expect((await gateway.api('GET', `/api/observe/${query}`)).body.total).toBe(0)
  expect((await gateway.api('GET', '/api/observe/traces?q=saffron')).body.total).toBeGreaterThan(0)

  expect((await gateway.api('DELETE', `/api/auth/users/${ada}`)).status).toBe(200)
  await erase(ada).then(completed)
  expect(await placesInStore('tamarind')).toEqual([])
  const parts = before.filter((place) => place.startsWith('plugins/'))
  expect(await placesInStore('saffron')).toEqual(expect.arrayContaining(parts))
  expect((await gateway.api('POST', `${routes}/erase`, { user_id: bob, dry_run: true })).body.found).toEqual(
    found,
  )
})

test('the report is signed, is in the ledger, and tells of the user only to one who knows the id', async () => {
  const { userId } = await gateway.signUp('pat')
  const id = await erase(userId)
  await completed(id)
  const { report: facts, signed, ledger_seq } = await report(id)
  expect(JSON.parse(signed.document)).toEqual(facts)
  const { document, ...signature } = signed
  const signing = gateway.kernel.service(Signing)!
  expect(await signing.verify(Buffer.from(document), signature)).toBe(true)
  expect(await signing.verify(Buffer.from(document.replace('"left"', '"Left"')), signature)).toBe(false)
  const { salt, sha256 } = facts.subject
  expect(createHash('sha256').update(`${salt}:${userId}`).digest('hex')).toBe(sha256)

  const entries = []
  for await (const entry of gateway.kernel.service(Ledger)!.scan({ fromSeq: ledger_seq })) entries.push(entry)
  expect(entries[0]).toMatchObject({ seq: ledger_seq, event_type: 'erasure.done', detail: signed })
  expect(JSON.stringify(entries[0])).not.toContain(userId)
  const job = await gateway.api('GET', `/api/jobs/${jobOf(id)}`)
  expect(job.status).toBe(200)
  expect(JSON.stringify(job.body)).not.toContain(userId)
})

test('a plugin that fails is named, there is no report, and the next attempt finishes', async () => {
  const userId = await leaving('cardamom')
  await gateway.module('hoarder', { config: { fails: true } })
  const [id, ...same] = await Promise.all([erase(userId), erase(userId), erase(userId)])
  expect(same).toEqual([id, id])
  expect(await erase(userId)).toBe(id)
  await expect.poll(async () => (await report(id)).failed).toEqual(['hoarder'])
  expect(await report(id)).toMatchObject({ status: 'running', report: null, signed: null, ledger_seq: null })
  await gateway.module('hoarder', { config: { fails: null } })
  expect((await gateway.api('POST', `/api/jobs/${jobOf(id)}/retry`)).status).toBe(200)
  await completed(id)
  expect(await report(id)).toMatchObject({ failed: [], report: { found: { hoarder: 3 }, left: {} } })
})

test('only admins erase and read reports, and what is wrong is named', async () => {
  const { key, userId } = await gateway.signUp('mallory')
  expect((await gateway.api('POST', `${routes}/erase`, { user_id: userId }, key)).status).toBe(403)
  expect((await gateway.api('GET', `${routes}/reports`, undefined, key)).status).toBe(403)
  expect((await gateway.api('GET', `${routes}/reports/era_none`)).status).toBe(404)
  for (const body of [{}, { user_id: '' }, { user_id: userId, whole: true }])
    expect((await gateway.api('POST', `${routes}/erase`, body)).status).toBe(400)
  const { body } = await gateway.api('GET', `${routes}/reports?status=completed&limit=1`)
  expect(body).toMatchObject({ total: 4, has_more: true })
  expect(body.reports[0].status).toBe('completed')
})

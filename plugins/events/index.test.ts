import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ManagementAudited } from '../../kernel/events/audit.ts'
import type { Occurrence } from '../../kernel/events.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { writePlugin } from '../../test/plugin-folder.ts'

/** An area whose one route stores a notice and emits an event of it, both or none. */
const board = `import { z } from ${JSON.stringify(import.meta.resolve('zod'))}
const title = z.string().max(20)
const Posted = { name: 'notice.posted', alias: undefined, description: 'Posted.', schema: z.strictObject({ title }) }
export default { settings: z.strictObject({}), setup({ event, emit, route, store }) {
  event(Posted)
  const rows = store.collection('notices', { schema: z.object({ title }) })
  route({ method: 'post', path: '/api/notices', access: 'admin', summary: 'Post', body: z.object({ title: z.string() }),
    returns: z.object({}), async handle(input) {
      await store.transaction((tx) => {
        emit(Posted, { title: input.body.title }, { in: tx, cause: input })
        tx.put(rows, 'one', input.body)
      })
      return {}
    } })
} }`

let folder: string
let gateway: TestGateway
let user: { userId: string; key: string }
const told: Occurrence[] = []

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-events-'))
  const manifest = { kind: 'area', permissions: ['routes', 'store'] }
  await writePlugin(folder, 'guestbook', { manifest, files: { 'index.js': board } })
  gateway = await startGateway({ config: { plugin_dirs: [folder] } })
  user = await gateway.signUp()
  gateway.kernel.events.onAny((_, occurrence) => void told.push(occurrence))
})

beforeEach(() => void told.splice(0))

afterAll(async () => {
  await gateway.close()
  await rm(folder, { recursive: true })
})

const audited = () => told.filter(({ type }) => type.name === ManagementAudited.name)

test('the catalogue names every type with its schema and those who emit it', async () => {
  const { status, body } = await gateway.api('GET', '/api/events/catalogue')
  expect(status).toBe(200)
  const events = new Map<string, Record<string, unknown>>(
    body.events.map((event: { name: string }) => [event.name, event]),
  )
  expect([...events.keys()]).toEqual(
    expect.arrayContaining([
      'call.settled',
      'circuit.opened',
      'management.audited',
      'module.changed',
      'rate_limit_hit',
    ]),
  )
  expect(events.get('notice.posted')).toEqual({
    name: 'notice.posted',
    alias: null,
    description: 'Posted.',
    schema: expect.objectContaining({ type: 'object', required: ['title'] }),
    emitted_by: ['guestbook'],
  })
  expect(events.get('provider.error')).toMatchObject({ alias: 'provider_error', emitted_by: ['proxy'] })
  expect((await gateway.api('GET', '/api/events/catalogue', undefined, user.key)).status).toBe(403)
})

test('a plugin that is switched off emits nothing, and its types go', async () => {
  const names = async () =>
    (await gateway.api('GET', '/api/events/catalogue')).body.events.map(({ name }: { name: string }) => name)
  await gateway.api('PUT', '/api/plugins/guestbook', { enabled: false })
  await expect.poll(names).not.toContain('notice.posted')
  await gateway.api('PUT', '/api/plugins/guestbook', { enabled: true })
  expect(await names()).toContain('notice.posted')
})

test('a request that changes something leaves an event with its actor, its route and no body', async () => {
  const { headers } = await gateway.api('POST', '/api/notices', { title: 'no audit of this' })
  const request = headers.get('x-request-id')
  expect(audited().map(({ actor, cause, data }) => ({ actor, cause, data }))).toEqual([
    {
      actor: { type: 'admin', id: expect.any(String), keyId: expect.any(String) },
      cause: request,
      data: {
        method: 'POST',
        route: '/api/notices',
        plugin: 'guestbook',
        params: {},
        outcome: 'changed',
        status: 200,
        code: null,
        request_id: request,
        ip: '127.0.0.1',
      },
    },
  ])
  expect(JSON.stringify(audited())).not.toContain('no audit of this')
  const posted = told.find(({ type }) => type.name === 'notice.posted')
  expect([posted?.cause, posted?.actor]).toEqual([request, audited()[0]!.actor])
})

test('the event of a change is stored before the answer leaves', async () => {
  const gate = Promise.withResolvers<void>()
  const end = gateway.kernel.events.on(ManagementAudited, () => gate.promise)
  expect((await gateway.api('PUT', '/api/proxy/modules/outputcap', { enabled: false })).status).toBe(200)
  end()
  gate.resolve()
  const changed = told.find(({ type }) => type.name === 'module.changed')
  expect([audited()[0]!.data, changed?.cause]).toMatchObject([
    { route: '/api/proxy/modules/{name}', params: { name: 'outputcap' } },
    audited()[0]!.cause,
  ])
})

test('what is refused leaves an event, with the caller as far as there is one', async () => {
  await gateway.api('PUT', '/api/proxy/modules/outputcap', { enabled: 'maybe' })
  await gateway.api('DELETE', `/api/auth/me/keys/${user.key}`, undefined, user.key)
  await gateway.api('GET', '/api/plugins', undefined, user.key)
  await gateway.api('GET', '/api/plugins', undefined, 'sy_live_nobody')
  expect(audited().map(({ actor, data }) => [actor.type, data])).toMatchObject([
    ['admin', { outcome: 'refused', status: 400, code: 'bad_request' }],
    ['user', { outcome: 'refused', status: 404, params: { keyId: '[redacted]' } }],
    ['user', { outcome: 'refused', status: 403, method: 'GET', route: '/api/plugins' }],
    ['anonymous', { outcome: 'refused', status: 401, method: 'GET', route: '/api/plugins' }],
  ])
  expect(audited()[3]!.actor.id).toBe('127.0.0.1')
})

test('what only reads leaves none', async () => {
  await gateway.api('GET', '/api/plugins')
  await gateway.api('GET', '/api/nothing')
  await gateway.api('POST', '/api/nothing', {})
  await gateway.api('POST', '/api/proxy/chain/explain', { model: 'gpt-4o-mini', messages: [] })
  expect(audited()).toEqual([])
})

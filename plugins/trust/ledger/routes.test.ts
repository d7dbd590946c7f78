import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Ledger, type LedgerEntry } from '#kernel'
import { type GatewayUnderTest, startGateway, type TestGateway } from '../../../test/harness.ts'
import { hashOf } from './end.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})

afterAll(() => gateway.close())

const api = (...args: Parameters<GatewayUnderTest['api']>) => gateway.api(...args)
const ledger = () => gateway.kernel.service(Ledger)!
const append = async (resource: string, more = {}): Promise<LedgerEntry> => {
  const body = {
    event_type: 'model.approved',
    action: 'approve',
    resource: { type: 'model', id: resource },
    ...more,
  }
  return (await api('POST', '/api/trust/ledger', body)).body
}
const list = async (query = ''): Promise<{ entries: LedgerEntry[]; total: number; next_cursor?: string }> =>
  (await api('GET', `/api/trust/ledger?${query}`)).body

test('an admin appends an entry, and the key says who did it', async () => {
  const { status, body } = await api('POST', '/api/trust/ledger', {
    event_type: 'model.approved',
    action: 'approve',
    resource: { type: 'model', id: 'gpt-4o' },
    detail: { ticket: 'OPS-7' },
    verdict: 'ok',
  })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    source: 'api',
    actor: { type: 'admin' },
    detail: { ticket: 'OPS-7' },
    trace_id: null,
  })
  expect(hashOf(body)).toBe(body.hash)
  expect((await api('GET', `/api/trust/ledger/${body.id}`)).body).toEqual(body)
})

test.each([
  ['an actor', { actor: { type: 'user', id: 'usr_x' } }, 'actor'],
  ['a hash', { hash: 'x' }, 'hash'],
  ['no event_type', { event_type: '' }, 'event_type'],
  ['half a character', { detail: { text: '\ud83d' } }, 'detail'],
])('a body with %s is refused by the name of the field', async (_, more, param) => {
  const { status, body } = await api('POST', '/api/trust/ledger', {
    event_type: 'a.b',
    action: 'do',
    ...more,
  })
  expect([status, body.error.message]).toEqual([400, expect.stringContaining(param)])
})

test.each([
  ['GET', ''],
  ['POST', ''],
  ['GET', '/le_00000000000000000000000000_1'],
  ['GET', '/verify'],
  ['GET', '/export'],
  ['GET', '/checkpoints'],
  ['POST', '/checkpoints'],
])('%s /api/trust/ledger%s is for admins', async (method, at) => {
  const { key } = await gateway.signUp(`user${Math.random()}`)
  const body = method === 'POST' ? {} : undefined
  expect((await api(method, `/api/trust/ledger${at}`, body, key)).status).toBe(403)
})

test('ids of no entry are not found', async () => {
  const { id } = await append('here')
  const wrong = ['le_1', 'nothing', id.replace(/_\d+$/, '_999999'), id.replace(/le_./, 'le_X')]
  for (const one of wrong) expect((await api('GET', `/api/trust/ledger/${one}`)).status).toBe(404)
})

test('entries are listed newest first, page by page, each once', async () => {
  for (let n = 0; n < 7; n++) await append(`paged-${n}`)
  const seen: number[] = []
  let cursor: string | undefined
  do {
    const page = await list(`limit=3${cursor ? `&cursor=${cursor}` : ''}`)
    seen.push(...page.entries.map(({ seq }) => seq))
    cursor = page.next_cursor
    await append('meanwhile')
  } while (cursor !== undefined)
  expect(seen).toEqual(Array.from({ length: seen[0]! }, (_, n) => seen[0]! - n))
  expect((await api('GET', '/api/trust/ledger?cursor=abc')).status).toBe(400)
})

test('entries are found by type, actor, resource, time and place', async () => {
  const before = new Date(Date.now() - 60_000).toISOString()
  const made = [
    await append('found'),
    await append('found', { event_type: 'other.type' }),
    await append('elsewhere'),
  ]
  const seqs = async (query: string) => (await list(query)).entries.map(({ seq }) => seq)
  const [first, second, third] = made.map(({ seq }) => seq)
  const { id } = made[0]!.actor
  expect(await seqs('resource=found')).toEqual([second, first])
  expect(await list('resource=found&limit=1')).toMatchObject({ total: 2, has_more: true })
  expect(await seqs('resource=found&event_type=other.type')).toEqual([second])
  expect(await seqs(`resource=found&from_seq=${second}`)).toEqual([second])
  expect(await seqs(`from_seq=${first}&to_seq=${third}`)).toEqual([third, second, first])
  expect((await seqs(`actor=${id}&from_seq=${first}`)).at(-1)).toBe(first)
  expect(await seqs(`resource=found&to=${before}`)).toEqual([])
  expect(await seqs(`to=${before}`)).toEqual([])
  expect((await seqs(`from=${before}&limit=500`)).at(-1)).toBe(1)
  expect((await api('GET', '/api/trust/ledger?from=yesterday')).status).toBe(400)
  expect((await api('GET', '/api/trust/ledger?colour=red')).status).toBe(400)
})

test('each change by the management API is entered once, with who did what to what', async () => {
  const { userId, key } = await gateway.signUp('changed')
  const made = await api('POST', '/api/auth/me/keys', { name: 'second' }, key)
  expect(made.status).toBeLessThan(300)
  await expect.poll(async () => (await list(`actor=${userId}`)).total).toBe(1)
  const [entry] = (await list(`actor=${userId}`)).entries
  expect(entry).toMatchObject({
    event_type: 'management.changed',
    source: 'gateway',
    actor: { type: 'user', id: userId },
    action: 'post',
    detail: { route: '/api/auth/me/keys', ip: expect.stringMatching(/^commitment:/) },
  })
  expect(JSON.stringify(entry)).not.toContain('127.0.0.1')
  await fetch(`${gateway.url}/api/auth/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'stranger@example.com' }),
  })
  await expect
    .poll(async () => (await list('actor=anonymous')).entries[0]?.detail.route)
    .toBe('/api/auth/signup')
})

test('what was read, refused or appended by itself leaves no entry of a change', async () => {
  const changes = async () => (await list('event_type=management.changed')).total
  await api('PUT', '/api/proxy/modules/outputcap', { enabled: false })
  await expect.poll(async () => (await list('resource=outputcap')).total).toBe(1)
  const before = await changes()
  await api('PUT', '/api/proxy/modules/outputcap', { colour: 'red' })
  await api('DELETE', '/api/auth/users/nobody')
  await append('by itself')
  await api('PUT', '/api/proxy/modules/outputcap', { enabled: true })
  await expect.poll(async () => (await list('resource=outputcap')).total).toBe(2)
  expect(await changes()).toBe(before + 1)
})

test('the chain is verified, what is new only the second time', async () => {
  const { body: first } = await api('GET', '/api/trust/ledger/verify')
  const { seq } = await ledger().head()
  expect(first).toMatchObject({ valid: true, events_checked: seq, first_seq: 1, last_seq: seq, reason: null })
  await append('new')
  const { body: second } = await api('GET', '/api/trust/ledger/verify')
  expect(second).toMatchObject({ valid: true, events_checked: seq + 1, events_read: 1 })
  const { body: full } = await api('GET', '/api/trust/ledger/verify?full=true')
  expect(full.events_read).toBe(seq + 1)
  const { body: part } = await api('GET', '/api/trust/ledger/verify?from_seq=2&to_seq=3')
  expect(part).toMatchObject({ valid: true, events_checked: 2, first_seq: 2, last_seq: 3 })
})

test('a checkpoint is signed, kept in a file, and made once for one end', async () => {
  const { seq, hash } = await append('checked')
  const { status, body } = await api('POST', '/api/trust/ledger/checkpoints')
  expect([status, body]).toMatchObject([201, { seq, head_hash: hash }])
  const lines = (await readFile(path.join(gateway.dataDir, 'ledger-checkpoints.jsonl'), 'utf8'))
    .trim()
    .split('\n')
  expect(JSON.parse(lines.at(-1)!)).toEqual(body)
  const { body: listing } = await api('GET', '/api/trust/ledger/checkpoints')
  expect(listing.checkpoints[0]).toEqual(body)
  const { body: verdict } = await api('GET', '/api/trust/ledger/verify')
  expect(verdict).toMatchObject({ valid: true, checkpoints_checked: listing.total })
})

test('an entry about something with a long name is shown like any other', async () => {
  const id = 'rollout-'.repeat(40)
  const draft = { event_type: 'test.long', actor: { type: 'module', id }, action: 'do' } as const
  const entry = await ledger().append({ ...draft, resource: { type: 'rollout', id } })
  expect(await list('event_type=test.long')).toMatchObject({ entries: [entry], total: 1 })
  expect(await api('GET', `/api/trust/ledger/${entry.id}`)).toMatchObject({ status: 200, body: entry })
})

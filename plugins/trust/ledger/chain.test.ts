import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { kernelServices, Ledger, type LedgerDraft, type LedgerEntry } from '#kernel'
import { canonicalJson } from '#kit'
import type { Engine } from '../../../storage/index.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { hashOf } from './end.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})

afterAll(() => gateway.close())

const ledger = () => gateway.kernel.service(Ledger)!
const store = () => gateway.kernel.container.resolve<Pick<Engine, 'namespace'>>(kernelServices.storage)
const draft = (id: string): LedgerDraft => ({
  event_type: 'test.done',
  actor: { type: 'module', id: 'tester' },
  action: 'do',
  resource: { type: 'thing', id },
})

const entries = async (query = {}): Promise<LedgerEntry[]> => Array.fromAsync(ledger().scan(query))

test('an entry has the hash of the one before, and its own over everything else', async () => {
  const first = await ledger().append(draft('a'))
  const second = await ledger().append({ ...draft('b'), detail: { b: 1, a: [null, 'ä'] }, verdict: 'ok' })
  expect(second).toMatchObject({ seq: first.seq + 1, prev_hash: first.hash, ledger: first.ledger })
  expect([hashOf(first), hashOf(second)]).toEqual([first.hash, second.hash])
  const others = Object.keys(second).filter((name) => name !== 'hash')
  for (const name of others) expect(hashOf({ ...second, [name]: 'forged' })).not.toBe(second.hash)
  expect(await ledger().head()).toEqual({ seq: second.seq, hash: second.hash })
})

test('what is recorded is there when it is next read, in its order', async () => {
  for (const id of ['x', 'y', 'z'])
    expect(ledger().record({ ...draft(id), event_type: 'test.recorded' })).toBe(true)
  const found = await entries({ eventType: 'test.recorded' })
  expect(found.map(({ resource }) => resource?.id)).toEqual(['x', 'y', 'z'])
})

test('what is recorded has the time at which it was recorded, whatever is appended first', async () => {
  const before = Date.now()
  ledger().record(() => draft(`made-${before}`))
  const recorded = Date.now()
  while (Date.now() < recorded + 5) await ledger().append(draft('between'))
  const [entry, ...more] = await entries({ resource: `made-${before}` })
  expect(more).toEqual([])
  const at = Date.parse(entry!.created_at)
  expect(at).toBeGreaterThanOrEqual(before)
})

test('an entry has the hashes of the canonical form of texts, among its details', async () => {
  const body = { b: [1, 'ä'], a: { z: null, y: 1e21 } }
  const sha256 = (value: unknown) => hash('sha256', canonicalJson(value))
  const digests = { request: JSON.stringify(body), answer: ' { "n": 1.0 } ' }
  const entry = await ledger().append({ ...draft('hashed'), detail: { model: 'm', z: 1 }, digests })
  expect(entry.detail).toEqual({ answer: sha256({ n: 1 }), model: 'm', request: sha256(body), z: 1 })
  expect(hashOf(entry)).toBe(entry.hash)
  ledger().record({ ...draft('hashed-later'), digests: { half: '"\\ud83d"', huge: '[1e999]' } })
  const [later] = await entries({ resource: 'hashed-later' })
  expect(later!.detail).toEqual({ half: sha256('\ufffd'), huge: sha256([null]) })
  await expect(ledger().append({ ...draft('hashed'), digests: { x: 'no JSON' } })).rejects.toThrow()
  ledger().record({ ...draft('hashed-later'), digests: { x: 'no JSON' } })
  expect((await entries({ resource: 'hashed-later' })).length).toBe(1)
})

test('an entry of a transaction exists exactly when its changes do', async () => {
  const engine = store().namespace('ledger-test')
  const things = engine.collection('things', { schema: z.object({ n: z.number() }) })
  const made = await ledger().prepare(draft('made'))
  await engine.transaction((tx) => {
    tx.put(things, 'made', { n: 1 })
    made(tx)
  })
  const refused = await ledger().prepare(draft('refused'))
  await expect(
    engine.transaction((tx) => {
      refused(tx)
      tx.create(things, 'made', { n: 2 })
    }),
  ).rejects.toMatchObject({ code: 'ROW_EXISTS' })
  expect((await entries({ resource: 'made' })).length).toBe(1)
  expect(await entries({ resource: 'refused' })).toEqual([])
})

test('of facts about a person an entry has commitments', async () => {
  const of = { kind: 'user', id: 'usr_ada' } as const
  const personal = { of, fields: { ip: '192.0.2.7' } }
  const [one, same] = [
    await ledger().append({ ...draft('p'), detail: { n: 1 }, personal }),
    await ledger().append({ ...draft('p'), personal }),
  ]
  expect(one.detail).toEqual({ n: 1, ip: expect.stringMatching(/^commitment:salt_/) })
  expect(same.detail.ip).toBe(one.detail.ip)
  ledger().record({
    ...draft('later'),
    personal: { of: { kind: 'user', id: 'usr_new' }, fields: { ip: 'x' } },
  })
  await expect.poll(async () => (await entries({ resource: 'later' })).length).toBe(1)
})

test.each([
  ['a number that is not finite', { n: Number.NaN }],
  ['half a character', { text: '\ud83d' }],
  ['no JSON', { at: new Date(0) }],
  ['more than an entry holds', { text: 'x'.repeat(70_000) }],
])('a detail with %s is refused, and leaves no gap', async (_, detail) => {
  await expect(ledger().append({ ...draft('bad'), detail })).rejects.toMatchObject({
    status: 400,
    param: 'detail',
  })
  const { seq } = await ledger().head()
  expect((await ledger().append(draft('next'))).seq).toBe(seq + 1)
})

test('entries are found by place, time, type, actor and resource', async () => {
  const { seq, created_at } = await ledger().append(draft('found'))
  const at = Date.parse(created_at)
  const seqs = async (query: object) => (await entries(query)).map((entry) => entry.seq)
  expect(await seqs({ fromSeq: seq, toSeq: seq })).toEqual([seq])
  expect(await seqs({ from: at, resource: 'found' })).toEqual([seq])
  expect(await seqs({ to: at, resource: 'found' })).toEqual([])
  expect(await seqs({ actor: 'tester', resource: 'found', eventType: 'test.done' })).toEqual([seq])
  expect(await seqs({ actor: 'nobody' })).toEqual([])
})

test('many that are recorded together are one chain, each found by its place', async () => {
  const { seq: before } = await ledger().head()
  for (let n = 0; n < 700; n++) ledger().record({ ...draft(`many-${n}`), event_type: 'test.many' })
  const found = await entries({ eventType: 'test.many' })
  expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: 700 }, (_, n) => before + 1 + n))
  for (const at of [0, 255, 256, 511, 512, 699]) {
    const { body } = await gateway.api('GET', `/api/trust/ledger/${found[at]!.id}`)
    expect(body.resource.id).toBe(`many-${at}`)
  }
  const { body } = await gateway.api('GET', `/api/trust/ledger?event_type=test.many&limit=500&offset=400`)
  expect([body.total, body.entries.length, body.entries.at(-1).resource.id]).toEqual([700, 300, 'many-0'])
  expect((await gateway.api('GET', '/api/trust/ledger/verify')).body.valid).toBe(true)
})

test('of those that are recorded, one that can be no entry is left out, and leaves no gap', async () => {
  for (const n of [1, 2n, 3]) ledger().record({ ...draft('partly'), detail: { n } })
  for (const n of [4, 5n, 6]) ledger().record(() => ({ ...draft('partly'), detail: { n } }))
  ledger().record(() => {
    throw new Error('there is no draft')
  })
  const found = await entries({ resource: 'partly' })
  expect(found.map(({ detail }) => detail.n)).toEqual([1, 3, 4, 6])
  expect((await gateway.api('GET', '/api/trust/ledger/verify')).body.valid).toBe(true)
})

test('a recorded entry has numbers that are not finite as null, and U+FFFD for half a character', async () => {
  const detail = { n: Number.NaN, text: 'x\ud83d', list: [Number.POSITIVE_INFINITY], kept: 1 }
  ledger().record({ ...draft('repaired'), detail })
  const [entry] = await entries({ resource: 'repaired' })
  expect(entry!.detail).toEqual({ n: null, text: 'x\ufffd', list: [null], kept: 1 })
  expect(hashOf(entry!)).toBe(entry!.hash)
})

test('after the erasure of a person the chain is as it was, and new commitments are others', async () => {
  const { userId } = await gateway.signUp('erased')
  const personal = { of: { kind: 'user', id: userId } as const, fields: { ip: '192.0.2.9' } }
  const before = await ledger().append({ ...draft('erasure'), personal })
  expect((await gateway.api('DELETE', `/api/auth/users/${userId}/data`)).status).toBe(200)
  const after = await ledger().append({ ...draft('erasure'), personal })
  expect(after.detail.ip).not.toBe(before.detail.ip)
  expect((await gateway.api('GET', `/api/trust/ledger/${before.id}`)).body).toEqual(before)
  expect((await gateway.api('GET', '/api/trust/ledger/verify?full=true')).body.valid).toBe(true)
})

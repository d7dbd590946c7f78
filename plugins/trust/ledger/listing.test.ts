import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { LedgerEntry, LedgerQuery, Sealing, Store } from '#kernel'
import type { Engine } from '../../../storage/index.ts'
import { openLevel } from '../../../storage/level.ts'
import { Chain } from './chain.ts'
import { IndexBlocks } from './index-blocks.ts'
import { Listing } from './listing.ts'
import { matches } from './query.ts'

let folder: string
let engine: Engine
let store: Store
let chain: Chain
let listing: Listing

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-listing-'))
  engine = await openLevel(folder)
  store = engine.namespace('trust') as Store
  chain = new Chain(store, () => undefined as unknown as Sealing)
  listing = new Listing(store, chain.segments)
  await append(2600)
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

/** Entries in segments of every size. */
async function append(count: number, word = 'thing'): Promise<void> {
  for (let n = 0; n < count; n++) {
    chain.record({
      event_type: n % 5 ? 'call.settled' : '__proto__',
      actor: { type: 'user', id: `user-${n % 7}` },
      action: 'do',
      ...(n % 3 && { resource: { type: word, id: `${word}-${n % 11}` } }),
    })
    if (n % 97 === 0 || n % 97 === 1) await chain.flush()
  }
  await chain.flush()
}

const all = async (query: LedgerQuery): Promise<LedgerEntry[]> => {
  const entries = await Array.fromAsync(chain.scan({}))
  const { fromSeq = 1, toSeq = Number.POSITIVE_INFINITY } = query
  return entries
    .filter((entry) => entry.seq >= fromSeq && entry.seq <= toSeq && matches(entry, query))
    .reverse()
}

const queries: LedgerQuery[] = [
  { eventType: 'call.settled' },
  { eventType: '__proto__', actor: 'user-3' },
  { actor: 'user-0', resource: 'thing-4' },
  { resource: 'thing-10', fromSeq: 900, toSeq: 2100 },
  { actor: 'user-5', fromSeq: 1024, toSeq: 1025 },
  { eventType: 'call.settled', toSeq: 1024 },
  { actor: 'nobody' },
]

test.each(queries)('a listing by %o is what a look at all entries finds', async (query) => {
  const expected = await all(query)
  expect(await listing.page(query, { limit: 5000, offset: 0 })).toEqual({
    items: expected,
    total: expected.length,
  })
  const part = await listing.page(query, { limit: 3, offset: 2 })
  expect(part).toMatchObject({ items: expected.slice(2, 5), total: expected.length })
  const seen: LedgerEntry[] = []
  let after: string | undefined
  do {
    const page = await listing.page(query, { limit: 400, offset: 0, after })
    seen.push(...page.items)
    after = page.next
  } while (after !== undefined)
  expect(seen).toEqual(expected)
})

test('blocks of entries that were lost with the power are made anew', async () => {
  const blocks = store.collection('ledger_blocks', { schema: z.looseObject({}) })
  const { items } = await blocks.list({})
  expect(items.length).toBe(2)
  const stale = { ...items[1], hash: 'lost' }
  await blocks.put('000000000001', stale)
  const again = new Listing(store, chain.segments)
  const expected = await all({ actor: 'user-1' })
  expect((await again.page({ actor: 'user-1' }, { limit: 5000, offset: 0 })).items).toEqual(expected)
  expect((await blocks.list({})).items).toEqual(items)
})

test('entries that are indexed while a search goes on are not found twice', async () => {
  const blocks = new IndexBlocks(store, chain.segments)
  const expected = (await all({ actor: 'user-2' })).map(({ seq }) => seq)
  const found: number[] = []
  for await (const stretch of blocks.find({ actor: 'user-2' })) {
    if (found.length === 0) {
      await append(1100)
      await blocks.catchUp()
    }
    found.push(...stretch.toReversed())
  }
  expect(found).toEqual(expected)
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { Entries } from './entries.ts'
import { type CacheEntry, createKept, type Stored } from './entry.ts'
import { sealsOf } from './seals.ts'

let folder: string
let store: Engine
const ends: (() => void)[] = []
const noSeals = sealsOf({ id: 'cachelayer', find: () => undefined }, fail)

function fail(): never {
  throw new Error('nothing is sealed here')
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-test-'))
  store = await openLevel(path.join(folder, 'db'))
})

afterEach(async () => {
  for (const end of ends.splice(0)) end()
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

const answer = (said: string, ttlMs = 60_000): CacheEntry => {
  const now = Date.now()
  const choices = [
    { index: 0, message: { role: 'assistant' as const, content: said }, finish_reason: 'stop' as const },
  ]
  return { body: { choices }, stored_at: now, expires_at: now + ttlMs }
}

/** Entries of a process that began just now, with what the store has. */
async function started(maxEntries = 100): Promise<Entries> {
  const stored: Stored = { keys: undefined }
  const kept = createKept(maxEntries, 1_000_000)
  const entries = new Entries({ store, kept, stored, seals: noSeals, maxEntries })
  ends.push(entries.watch())
  await entries.load()
  return entries
}

test('an answer is found at once, and by the next process once it was saved', async () => {
  const first = await started()
  first.add('a', answer('A'))
  expect(first.find('a')).toMatchObject({ body: answer('A').body })
  expect((await started()).find('a')).toBeUndefined()
  await first.save()
  expect(await (await started()).find('a')).toMatchObject({ body: answer('A').body })
})

test('nobody asks the store for what is not there', async () => {
  const entries = await started()
  expect(entries.find('unknown')).toBeUndefined()
  const other = await started()
  other.add('later', answer('L'))
  await other.save()
  const found = entries.find('later')
  expect(found).toBeInstanceOf(Promise)
  expect(await found).toMatchObject({ body: answer('L').body })
})

test('until the store was read it is asked', async () => {
  const first = await started()
  first.add('a', answer('A'))
  await first.save()
  const kept = createKept(10, 1_000_000)
  const unread = new Entries({ store, kept, stored: { keys: undefined }, seals: noSeals, maxEntries: 10 })
  expect(await unread.find('a')).toMatchObject({ body: answer('A').body })
})

test('what is no longer kept when it is time to save is not written', async () => {
  const entries = await started(3)
  for (let n = 0; n < 20; n += 1) entries.add(`k${n}`, answer(`${n}`))
  entries.add('gone', answer('gone', -1))
  await entries.save()
  const next = await started(3)
  const found = await Promise.all(['k16', 'k17', 'k18', 'k19', 'gone'].map((key) => next.find(key)))
  expect(found.map((entry) => entry !== undefined)).toEqual([false, false, true, true, false])
})

test('what was given after the time that is asked for waits', async () => {
  const entries = await started()
  const now = Date.now()
  entries.add('old', { ...answer('O'), stored_at: now - 1000 })
  entries.add('new', { ...answer('N'), stored_at: now })
  await entries.save(now - 500)
  const next = await started()
  expect(await next.find('old')).toMatchObject({ body: answer('O').body })
  expect(next.find('new')).toBeUndefined()
  await entries.save()
  expect(await next.find('new')).toMatchObject({ body: answer('N').body })
})

test('an answer that took the place of an expired one stays when that is deleted', async () => {
  const entries = await started()
  entries.add('a', { ...answer('old', 30), stored_at: Date.now() - 1000 })
  await entries.save()
  await new Promise((resolve) => setTimeout(resolve, 40))
  entries.add('a', answer('new'))
  await entries.sweep()
  expect(entries.find('a')).toMatchObject({ body: answer('new').body })
})

test('the sweep deletes what has expired and the oldest beyond the limit, and nobody asks for them again', async () => {
  const entries = await started(10)
  for (let n = 0; n < 3; n += 1) entries.add(`k${n}`, { ...answer(`${n}`), stored_at: Date.now() + n })
  entries.add('short', answer('s', 30))
  await entries.save()
  await new Promise((resolve) => setTimeout(resolve, 40))
  const small = await started(2)
  await small.sweep()
  expect(await Promise.all(['short', 'k0', 'k1', 'k2'].map((key) => small.find(key)))).toMatchObject([
    undefined,
    undefined,
    { body: answer('1').body },
    { body: answer('2').body },
  ])
  expect(small.find('k0')).toBeUndefined()
})

import { channel } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LedgerEntry, Sealing, Store } from '#kernel'
import type { Engine } from '../../../storage/index.ts'
import { openLevel } from '../../../storage/level.ts'
import { runs } from '../../../test/suite/runs.ts'
import { Chain } from './chain.ts'
import { digestOf } from './digest.ts'
import { hashOf, noHash } from './end.ts'
import { segmentSchema } from './segments.ts'

let folder: string
let engine: Engine
let chain: Chain
/** Threads that were started. */
let threads: number
const counted = (): void => {
  threads += 1
}

async function open(): Promise<void> {
  engine = await openLevel(folder)
  chain = chainOn(2)
}

const chainOn = (cores: number) =>
  new Chain(engine.namespace('trust') as Store, () => undefined as unknown as Sealing, cores)

beforeEach(async () => {
  threads = 0
  total = 0
  others = 0
  channel('worker_threads').subscribe(counted)
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-recorder-'))
  await open()
})

afterEach(async () => {
  channel('worker_threads').unsubscribe(counted)
  await chain.close()
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

const bodyOf = (n: number, length = 300): string => JSON.stringify({ n, text: 'x'.repeat(length) })

const draftOf = (n: number, body = bodyOf(n)) => ({
  event_type: 'call.settled',
  actor: { type: 'user', id: 'usr_1' } as const,
  action: 'chat',
  detail: { n, status: 200 },
  digests: { body },
})

/** The entries, each of which follows the one before. */
async function chained(): Promise<LedgerEntry[]> {
  const entries = await Array.fromAsync(chain.scan({}))
  let before = noHash
  for (const [at, entry] of entries.entries()) {
    expect([entry.seq, entry.prev_hash, hashOf(entry)]).toEqual([at + 1, before, entry.hash])
    before = entry.hash
  }
  return entries
}

const numbersOf = (entries: readonly LedgerEntry[]) => entries.flatMap(({ detail }) => detail.n ?? [])
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
/** Segments that are written, without a reader of the ledger that would have the rest written too. */
const segments = () => engine.namespace('trust').sequence('ledger', segmentSchema).last()

test('many are hashed in another thread, behind each other, with the hashes of their texts', async () => {
  const rounds = 6
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < 500; n++) chain.record(draftOf(round * 500 + n))
    await pause(20)
  }
  const entries = await chained()
  expect(numbersOf(entries)).toEqual(numbers(rounds * 500))
  for (const { detail } of entries) expect(detail.body).toBe(digestOf(bodyOf(detail.n as number)))
  expect([threads, chain.dropped]).toEqual([1, 0])
})

test('a few need no thread, and are written a moment later without being asked for', async () => {
  for (let n = 0; n < 5; n++) chain.record(draftOf(n))
  expect(await segments()).toBe(0)
  await expect.poll(segments).toBe(1)
  expect(numbersOf(await chained())).toEqual(numbers(5))
  expect(threads).toBe(0)
})

test('on one core many are hashed without a thread, which would only take that core', async () => {
  const alone = chainOn(1)
  for (let n = 0; n < 600; n++) alone.record(draftOf(n))
  await expect.poll(segments).toBe(3)
  await alone.close()
  expect(numbersOf(await chained())).toEqual(numbers(600))
  expect(threads).toBe(0)
})

test('one with a long text is hashed in another thread too', async () => {
  await chain.append(draftOf(0))
  const body = bodyOf(1, 3_000_000)
  chain.record(draftOf(1, body))
  await expect.poll(() => threads).toBe(1)
  expect((await chained())[1]!.detail.body).toBe(digestOf(body))
})

test('what is appended in between, and read, breaks no chain and loses nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom('record', 'append', 'pause', 'read'), fc.nat(300))),
      (steps) => interleaved(steps),
    ),
    runs(20),
  )
})

let total: number
let others: number

async function interleaved(steps: readonly (readonly [string, number])[]): Promise<void> {
  const appended: Promise<unknown>[] = []
  for (const [step, count] of steps) {
    if (step === 'record') for (let n = 0; n < count; n++) chain.record(draftOf(total++))
    if (step === 'append')
      appended.push(chain.append({ ...draftOf(-1), event_type: 'other', detail: {}, digests: {} }))
    if (step === 'pause') await pause(count / 10)
    if (step === 'read') await chain.head()
  }
  await Promise.all(appended)
  const entries = await chained()
  expect(numbersOf(entries)).toEqual(numbers(total))
  others += appended.length
  expect([entries.length, chain.dropped]).toEqual([total + others, 0])
}

test('two threads of the gateway that append in turn make one chain, with all entries of each in their order', async () => {
  const other = chainOn(2)
  for (let round = 0; round < 8; round++) {
    for (let n = 0; n < 300; n++) {
      chain.record(draftOf(round * 300 + n))
      other.record({ ...draftOf(round * 300 + n), action: 'other' })
    }
    await pause(20)
  }
  await other.flush()
  await other.close()
  const entries = await chained()
  const of = (isOther: boolean) => entries.filter(({ action }) => (action === 'other') === isOther)
  expect(numbersOf(of(false))).toEqual(numbers(2400))
  expect(numbersOf(of(true))).toEqual(numbers(2400))
})

test('what was recorded is in the store when it closes right after, hashed or not', async () => {
  for (let n = 0; n < 600; n++) chain.record(draftOf(n))
  await pause(105)
  for (let n = 600; n < 700; n++) chain.record(draftOf(n))
  await chain.close()
  chain.record(draftOf(700))
  await engine.close()
  await open()
  expect(numbersOf(await chained())).toEqual(numbers(701))
})

test('no more waits than memory can hold, and what is dropped is counted', async () => {
  const body = bodyOf(0, 1_000_000)
  const taken = numbers(90).map(() => chain.record(draftOf(0, body)))
  const first = taken.indexOf(false)
  expect(first).toBeGreaterThan(60)
  expect(taken.slice(first).every((isTaken) => !isTaken)).toBe(true)
  expect([(await chained()).length, chain.dropped]).toEqual([first, 90 - first])
  expect(chain.record(draftOf(0))).toBe(true)
})

test('those that can be no entries are counted, also where no other came with them', async () => {
  for (let n = 0; n < 3; n++) chain.record(draftOf(n, 'no JSON'))
  expect([(await chained()).length, chain.dropped]).toEqual([0, 3])
  chain.record(draftOf(3))
  chain.record(draftOf(4, 'no JSON'))
  expect([numbersOf(await chained()), chain.dropped]).toEqual([[3], 4])
})

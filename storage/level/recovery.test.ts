import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fillUp, hasFullDevice } from '../conformance/full-device.ts'
import { collect } from '../conformance/harness.ts'
import { mountSmallDisk, type SmallDisk } from '../conformance/small-disk.ts'
import type { Engine, StoreHealth } from '../index.ts'
import { openLevel } from '../level.ts'
import { shareEngine } from '../shared.ts'
import { accountOptions, type Event, eventOptions, Link, linkAfter } from './crash-parts.ts'

let disk: SmallDisk | undefined
let engine: Engine | undefined
let told: StoreHealth[]

beforeEach(() => {
  disk = engine = undefined
  told = []
})

afterEach(async () => {
  await engine?.close()
  await disk?.[Symbol.asyncDispose]()
})

const why = 'mounting a disk that can be full is not allowed here'
const account = (n: number) => ({ owner: 'o', balance: n })

const openHere = ({ folder }: SmallDisk): Promise<Engine> =>
  openLevel(`${folder}/db`, { changed: (health) => told.push(health) })

/** As another thread has it. */
async function openShared(disk: SmallDisk): Promise<Engine> {
  const level = await openHere(disk)
  const shared = shareEngine(level).open()
  return { ...shared, close: () => shared.close().finally(() => level.close()) }
}

const openings = { 'of this thread': openHere, 'of another thread': openShared }

test.for(Object.entries(openings))(
  'a full disk refuses changes to a store %s, says why, and takes them again when there is room',
  { timeout: 60_000 },
  async ([, open], { skip }) => {
    disk = await mountSmallDisk(24)
    if (!disk) return skip(why)
    engine = await open(disk)
    const accounts = engine.collection('accounts', accountOptions)
    const chain = engine.sequence('chain', Link)
    const events = engine.log<Event>('events', eventOptions)
    const counters = await engine.counters('use')
    await chain.append(linkAfter)
    counters.add('calls', 1)
    await engine.flush()
    await disk.fill()

    const written = new Set<string>()
    const refused: string[] = []
    for (let n = 0; refused.length < 3; n++) {
      const outcome = accounts.put(`id${n}`, account(n))
      await outcome.then(
        () => written.add(`id${n}`),
        (error) => {
          refused.push(`id${n}`)
          expect(error).toMatchObject({
            code: 'STORE_FAILED',
            message: expect.stringContaining('No space left on device'),
          })
        },
      )
    }
    expect(told[0]).toEqual({
      state: 'read-only',
      reason: 'No space left on device',
      since: expect.closeTo(Date.now(), -4),
    })
    await expect(chain.append(linkAfter)).rejects.toMatchObject({ code: 'STORE_FAILED' })
    for (let n = 0; n < 2000; n++) events.append({ id: `e${n}`, at: n, kind: 'k' })
    counters.add('calls', 41)
    await expect(events.flush()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await expect(counters.flush()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(events.status()).toMatchObject({ depth: 2000, dropped: 0 })
    const small = engine.log<Event>('small', { ...eventOptions, maxQueueBytes: 4000 })
    for (let n = 0; n < 200; n++) small.append({ id: `s${n}`, at: n, kind: 'k' })
    const { depth, dropped } = small.status()
    expect(dropped).toBeGreaterThan(0)
    expect(depth + dropped).toBe(200)
    expect((await events.list()).total).toBe(0)
    expect((await events.totals('', '~')).cells).toEqual([])
    expect(await accounts.count()).toBe(written.size)
    await vi.waitFor(() => expect(told.at(-1)?.reason).toMatch('must be free'), 10_000)

    await disk.free()
    await vi.waitFor(() => expect(told.at(-1)).toEqual({ state: 'healthy' }), 20_000)
    await accounts.put('after', account(0))
    expect((await chain.append(linkAfter)).seq).toBe(2)
    await vi.waitFor(() => expect(events.status().depth).toBe(0), 5_000)
    await engine.close()
    engine = await open(disk)
    const ids = await collect(engine.collection('accounts', accountOptions).scan())
    expect(new Set(ids.map(([id]) => id))).toEqual(written.add('after'))
    const { items } = await engine.log<Event>('events', eventOptions).list({ reverse: false })
    expect(items.map(({ at }) => at)).toEqual(Array.from({ length: 2000 }, (_, n) => n))
    expect((await engine.log<Event>('small', eventOptions).list()).total).toBe(depth)
    expect((await engine.counters('use')).get('calls')).toBe(42)
  },
)

test.skipIf(!hasFullDevice)(
  'rows whose writing the disk refuses wait in their place, and are written when it takes them',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'recovery-'))
    try {
      engine = await openLevel(folder, { changed: (health) => told.push(health) })
      const events = engine.log<Event>('events', eventOptions)
      const append = (n: number) => events.append({ id: `e${n}`, at: n, kind: 'k' })
      append(0)
      await events.flush()
      await fillUp(folder, engine.compact)
      append(1)
      const refused = events.flush()
      append(2)
      await expect(refused).rejects.toMatchObject({ code: 'STORE_FAILED' })
      expect(events.status()).toMatchObject({ depth: 2, dropped: 0 })
      expect((await events.list()).items.map(({ at }) => at)).toEqual([0])
      await vi.waitFor(() => expect(events.status()).toMatchObject({ depth: 0, dropped: 0 }), 10_000)
      expect((await events.list()).items.map(({ at }) => at)).toEqual([2, 1, 0])
      expect(told.map(({ state }) => state)).toEqual(['read-only', 'healthy'])
    } finally {
      await engine?.close()
      await rm(folder, { recursive: true })
    }
  },
)

test.skipIf(!hasFullDevice)(
  'a listing that is read on while the store is opened again says that it was cut short',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'recovery-'))
    try {
      engine = await openLevel(folder, { changed: (health) => told.push(health) })
      const accounts = engine.collection('accounts', accountOptions)
      await Promise.all(Array.from({ length: 600 }, (_, n) => accounts.put(`id${n}`, account(n))))
      const listing = accounts.scan()[Symbol.asyncIterator]()
      await listing.next()
      await fillUp(folder, engine.compact)
      await expect(accounts.put('refused', account(0))).rejects.toMatchObject({ code: 'STORE_FAILED' })
      await vi.waitFor(() => expect(told.at(-1)).toEqual({ state: 'healthy' }), 10_000)
      const rest = async () => {
        while (!(await listing.next()).done);
      }
      await expect(rest()).rejects.toMatchObject({
        code: 'STORE_FAILED',
        message: expect.stringContaining('Ask again'),
      })
      expect((await collect(accounts.scan())).length).toBe(600)
    } finally {
      await engine?.close()
      await rm(folder, { recursive: true })
    }
  },
)

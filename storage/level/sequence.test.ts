import { Level } from 'level'
import { afterEach, expect, test, vi } from 'vitest'
import { fillUp, hasFullDevice, stayFull } from '../conformance/full-device.ts'
import { collect, withEngine } from '../conformance/harness.ts'
import type { StoreProblem } from '../index.ts'
import { openLevel } from '../level.ts'
import { Link, linkAfter } from './crash-parts.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const problems: StoreProblem[] = []
const open = (folder: string) => {
  problems.length = 0
  return openLevel(folder, { report: (problem) => problems.push(problem) })
}
const links = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({ seq: from + n, after: from + n - 1 }))

/** The keys of sequences in each batch that LevelDB writes from now on. */
function watchBatches(): string[][] {
  const batches: string[][] = []
  const { batch } = Level.prototype
  vi.spyOn(Level.prototype, 'batch').mockImplementation(function (this: Level, ...given: unknown[]) {
    const keys = (given[0] as { key: string }[]).map(({ key }) => key).filter((key) => key.startsWith('s/'))
    if (keys.length > 0) batches.push(keys)
    return Reflect.apply(batch, this, given)
  } as never)
  return batches
}

test('sequences of one store have their own entries and ends', () =>
  withEngine(open, async ({ engine, reopen }) => {
    const a = engine.sequence('a', Link)
    for (let n = 0; n < 3; n++) await a.append(linkAfter)
    await engine.namespace('a').sequence('b', Link).append(linkAfter)
    const again = await reopen()
    expect(await collect(again.sequence('a', Link).scan())).toEqual(links(1, 4))
    expect(await collect(again.namespace('a').sequence('b', Link).scan())).toEqual(links(1, 2))
    expect(await again.sequence('b', Link).last()).toBe(0)
  }))

test('entries are found by whole numbers from 1 on, and by no others', () =>
  withEngine(open, async ({ engine }) => {
    const chain = engine.sequence('chain', Link)
    await engine.transaction((tx) => links(1, 4).map(() => tx.append(chain, linkAfter)))
    expect(await Promise.all([1, 2, 3].map((seq) => chain.get(seq)))).toEqual(links(1, 4))
    for (const seq of [0, -1, 1.5, 4, 2 ** 60, Number.POSITIVE_INFINITY, Number.NaN])
      expect(await chain.get(seq)).toBeUndefined()
    const ranges = [
      [0, 2],
      [-7, 2],
      [0.5, 1.5],
      [2, 99],
      [3, 3],
      [1, -1],
      [1, Number.NaN],
      [Number.NaN, 9],
    ] as const
    const found = await Promise.all(ranges.map(([from, to]) => collect(chain.scan(from, to))))
    expect(found.map((entries) => entries.map(({ seq }) => seq))).toEqual([
      [1],
      [1],
      [1],
      [2, 3],
      [],
      [],
      [],
      [],
    ])
  }))

test('an entry that cannot be read is named, and nothing is made from it', () =>
  withEngine(open, async ({ engine, folder, reopen }) => {
    const before = engine.sequence('chain', Link)
    for (let n = 0; n < 3; n++) await before.append(linkAfter)
    await engine.close()
    const database = new Level<string, string>(folder)
    const [key] = (await database.keys({ gte: 's/chain!e', lt: 's/chain!f' }).all()).slice(-1)
    await database.put(key!, '{"seq":')
    await database.close()

    const chain = (await reopen()).sequence('chain', Link)
    const unreadable = { code: 'ROW_UNREADABLE', message: 'Entry 3 of chain cannot be read.' }
    const seen: unknown[] = []
    await expect(async () => {
      for await (const link of chain.scan()) seen.push(link)
    }).rejects.toMatchObject(unreadable)
    expect(seen).toEqual(links(1, 3))
    await expect(chain.get(3)).rejects.toMatchObject(unreadable)
    await expect(chain.append(linkAfter)).rejects.toMatchObject(unreadable)
    expect(await chain.last()).toBe(3)
  }))

test('a read is refused when what waits before it cannot be written', () =>
  withEngine(open, async ({ engine }) => {
    const chain = engine.sequence('chain', Link)
    chain.queue(linkAfter)
    const cause = new Error('the disk is away')
    vi.spyOn(Level.prototype, 'getSync').mockImplementationOnce(() => {
      throw cause
    })
    await expect(chain.last()).rejects.toBe(cause)
    expect(await chain.last()).toBe(1)
  }))

test.skipIf(!hasFullDevice)(
  'while the disk refuses writes entries wait unmade, which is reported, and what is there can be read',
  () =>
    withEngine(open, async ({ engine, folder, reopen }) => {
      const chain = engine.sequence('chain', Link)
      await chain.append(linkAfter)
      await fillUp(folder, engine.compact)
      const free = await stayFull(folder)
      const refused = { code: 'STORE_FAILED' }
      await expect(chain.append(linkAfter)).rejects.toMatchObject(refused)
      const make = vi.fn(linkAfter)
      chain.queue(make)
      expect(await collect(chain.scan())).toEqual(links(1, 2))
      expect(await chain.get(2)).toBeUndefined()
      await expect(chain.flush()).rejects.toMatchObject(refused)
      expect(make).not.toHaveBeenCalled()
      await expect.poll(() => problems).toMatchObject([{ ...refused, part: 'chain' }])
      expect(chain.status()).toEqual({ depth: 1, dropped: 0 })
      await free()
      const again = (await reopen()).sequence('chain', Link)
      expect(await collect(again.scan())).toEqual(links(1, 3))
    }),
)

test('entries that take long to make are made over several turns, at least one in each', () =>
  withEngine(open, async ({ engine }) => {
    const chain = engine.sequence('chain', Link)
    const batches = watchBatches()
    let now = 0
    let isSlow = false
    vi.spyOn(performance, 'now').mockImplementation(() => {
      if (isSlow) now += 3
      return now
    })
    const make: typeof linkAfter = (previous, seq) => {
      now += 1
      return linkAfter(previous, seq)
    }
    for (let n = 0; n < 7; n++) chain.queue(make)
    expect(await chain.last()).toBe(7)
    // Each batch also has the number of the last entry.
    expect(batches.map(({ length }) => length)).toEqual([4, 4, 2])
    isSlow = true
    for (let n = 0; n < 2; n++) chain.queue(make)
    expect(await chain.last()).toBe(9)
    expect(batches.slice(3).map(({ length }) => length)).toEqual([2, 2])
    expect(await collect(chain.scan())).toEqual(links(1, 10))
  }))

test('entries that are dropped write nothing, and are reported', () =>
  withEngine(open, async ({ engine }) => {
    const chain = engine.sequence('chain', Link)
    const batches = watchBatches()
    chain.queue(() => ({ seq: 'one' }) as never)
    expect(await chain.last()).toBe(0)
    expect([batches, chain.status()]).toEqual([[], { depth: 0, dropped: 1 }])
    expect(problems).toMatchObject([{ code: 'ROW_INVALID', part: 'chain' }])
  }))

test('a sequence that is closed has written what waited, and waits for nothing', () =>
  withEngine(open, async ({ engine, reopen }) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    engine.sequence('chain', Link).queue(linkAfter)
    const again = await reopen()
    expect(vi.getTimerCount()).toBe(0)
    expect(await again.sequence('chain', Link).last()).toBe(1)
  }))

import { Level } from 'level'
import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { fillUp, hasFullDevice } from '../conformance/full-device.ts'
import { withEngine } from '../conformance/harness.ts'
import type { Log, LogOptions, StoreProblem } from '../index.ts'
import { openLevel } from '../level.ts'
import type { LevelCollection } from './collection.ts'
import type { Compactable } from './group-commit.ts'
import type { LevelLog } from './log.ts'
import { LogKeys } from './log-keys.ts'
import { queuedRow } from './queued-row.ts'

interface Event {
  readonly id: string
  readonly at: number
}

const never = 60_000
const options: LogOptions<Event> = {
  id: ({ id }) => id,
  time: ({ at }) => at,
  rollup: (_, add) => add(['all'], { events: 1 }),
  flushMs: never,
}
const event = (at: number): Event => ({ id: `e${at}`, at })
const idsOf = async (log: Log<Event>) => (await log.list({ reverse: false })).items.map(({ at }) => at)

afterEach(() => {
  vi.restoreAllMocks()
})

test('options that come later hold for the rows that come after them', () =>
  withEngine(openLevel, async ({ engine }) => {
    const first = engine.log('events', options)
    first.append(event(1))
    const log = engine.log<Event>('events', {
      ...options,
      maxQueueBytes: 100,
      rollup: ({ at }, add) => add([`at${at}`], { events: 1 }),
    })
    for (let n = 2; n < 10; n++) log.append(event(n))
    expect(log.status().dropped).toBeGreaterThan(0)
    await log.flush()
    log.append(event(20))
    const { cells } = await log.totals('', '~')
    expect(cells.at(0)).toEqual(['all', { events: 9 - log.status().dropped }])
    expect(cells.at(-1)).toEqual(['at20', { events: 1 }])
  }))

test('a row without an id or a time is no row', () =>
  withEngine(openLevel, async ({ engine }) => {
    const log = engine.log('events', options)
    for (const row of [
      { id: '', at: 1 },
      { at: 1 },
      { id: 7, at: 1 },
      { id: 'a' },
      { id: 'a', at: Infinity },
    ])
      log.append(row as Event)
    log.append(event(1))
    expect(log.status()).toMatchObject({ depth: 1, dropped: 5 })
    expect(await log.list()).toEqual({ items: [event(1)], total: 1 })
    expect(await log.get('')).toBeUndefined()
  }))

test('a row is looked for in blocks that may have its id, and the newest of an id is found', () =>
  withEngine(
    (folder) => openLevel(folder, { logFormat: { chunkRows: 2, blockRows: 4 } }),
    async ({ engine }) => {
      const log = engine.log('events', options)
      const ids = ['b', 'd', 'c', 'b', 'f', 'h', 'g', 'f', 'm', 'k', 'l', 'n', 'z']
      for (const [at, id] of ids.entries()) log.append({ id, at })
      await log.flush()
      const read: string[] = []
      const { get } = Level.prototype
      vi.spyOn(Level.prototype, 'get').mockImplementation(function (this: Level, ...given: unknown[]) {
        const [, block] = /!i0*(\w)$/.exec(given[0] as string) ?? []
        if (block !== undefined) read.push(block)
        return Reflect.apply(get, this, given)
      } as never)
      const found = async (id: string) => [(await log.get(id))?.at, read.splice(0).join()]
      expect(await found('z')).toEqual([12, ''])
      expect(await found('b')).toEqual([3, '0'])
      expect(await found('d')).toEqual([1, '0'])
      expect(await found('f')).toEqual([7, '1'])
      expect(await found('h')).toEqual([5, '1'])
      expect(await found('k')).toEqual([9, '2'])
      expect(await found('m')).toEqual([8, '2'])
      expect(await found('n')).toEqual([11, '2'])
      for (const id of ['a', 'e', 'i', 'o']) expect(await found(id)).toEqual([undefined, ''])
      expect(await found('bb')).toEqual([undefined, '0'])
    },
  ))

test('rows that are written together are taken in as text, and are there', () =>
  withEngine(openLevel, async ({ engine }) => {
    const log = engine.log('events', options)
    await (log as LevelLog<Event>).take([1, 2].map((at) => queuedRow(options, event(at), `body ${at}`)))
    expect(log.status().depth).toBe(0)
    expect(await idsOf(log)).toEqual([1, 2])
    expect(await log.body('e2')).toBe('body 2')
  }))

test.skipIf(!hasFullDevice)('while the disk refuses writes a log answers, and waits with what is new', () =>
  withEngine(openLevel, async ({ engine, folder }) => {
    const log = engine.log('events', options)
    log.append(event(0))
    await log.flush()
    const { database } = (engine.collection('any', { schema: z.unknown() }) as LevelCollection<unknown>)
      .backing
    await fillUp(folder, () => (database as typeof database & Compactable).compactRange('\0', '\uffff'))
    log.append(event(1))
    const refused = { code: 'STORE_FAILED' }
    const given = [queuedRow(options, event(2), undefined)]
    await (log as LevelLog<Event>).take(given)
    expect(log.status()).toMatchObject({ depth: 2, dropped: 0 })
    await expect((log as LevelLog<Event>).take(given)).rejects.toMatchObject(refused)
    await expect(log.flush()).rejects.toMatchObject(refused)
    expect(await idsOf(log)).toEqual([0])
    expect(await log.totals('', '~')).toEqual({ cells: [['all', { events: 1 }]] })
    // What waits is tried again a second after it was refused, though its time would be longer.
    await vi.waitFor(() => expect(log.status()).toMatchObject({ depth: 0, dropped: 0 }), 10_000)
    expect(await idsOf(log)).toEqual([0, 1, 2])
    // As many rows as these are written at once again.
    for (let n = 0; n < 128; n++) log.append(event(100 + n))
    await vi.waitFor(() => expect(log.status().depth).toBe(0), 10_000)
  }),
)

test('a log that cannot be read tells no totals', () =>
  withEngine(openLevel, async ({ engine, folder, reopen }) => {
    const before = engine.log('events', options)
    before.append(event(1))
    await engine.close()
    const database = new Level<string, string>(folder)
    await database.put(new LogKeys('events').meta, 'no JSON')
    await database.close()
    const log = (await reopen()).log('events', options)
    await expect(log.totals('', '~')).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  }))

test('a row that the present functions of a log refuse is left out and reported, and the others stay', () =>
  withEngine(openLevel, async ({ engine, folder }) => {
    const before = engine.log('events', options)
    for (const at of [1, 2, 3]) before.append(event(at))
    await engine.close()
    const problems: StoreProblem[] = []
    const again = await openLevel(folder, { report: (problem) => problems.push(problem) })
    const log = again.log<Event>('events', { ...options, time: ({ at }) => (at === 2 ? Number.NaN : at) })
    expect(await log.list({ from: 0 })).toEqual({ items: [event(3), event(1)], total: 2 })
    expect(await log.get('e2')).toBeUndefined()
    expect(await log.get('e3')).toEqual(event(3))
    expect(problems).toMatchObject([{ code: 'ROW_UNREADABLE', part: 'events', id: '#1' }])
    await again.close()
  }))

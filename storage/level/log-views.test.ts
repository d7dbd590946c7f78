import { Level } from 'level'
import { afterEach, expect, test, vi } from 'vitest'
import { collect, withEngine } from '../conformance/harness.ts'
import type { Log, LogOptions, LogQuery } from '../index.ts'
import { openLevel } from '../level.ts'

interface Event {
  readonly id: string
  readonly at: number
}

const options: LogOptions<Event> = { id: ({ id }) => id, time: ({ at }) => at, flushMs: 60_000 }
const open = (folder: string) => openLevel(folder, { logFormat: { chunkRows: 2, blockRows: 4 } })
const append = (log: Log<Event>, from: number, to: number): void => {
  for (let at = from; at < to; at++) log.append({ id: `e${at}`, at })
}

afterEach(() => {
  vi.restoreAllMocks()
})

test('a query with a negative limit or offset, or none that is a number, is refused', () =>
  withEngine(open, async ({ engine }) => {
    const log = engine.log('events', options)
    append(log, 0, 2)
    for (const query of [{ limit: -1 }, { offset: -1 }, { limit: Number.NaN }, { offset: Number.NaN }])
      for (const read of [() => log.list(query), () => collect(log.scan(query))])
        await expect(read()).rejects.toMatchObject({ code: 'QUERY_INVALID' })
    for (const query of [{ limit: 0 }, { offset: 2 }])
      expect([(await log.list(query)).total, await collect(log.scan(query))]).toEqual([2, []])
    expect((await log.list({ offset: 1 })).items).toEqual([{ id: 'e0', at: 0 }])
  }))

test('older rows are indexed for what is new once a query asks for it, and not before', () =>
  withEngine(open, async ({ engine }) => {
    const log = engine.log('events', options)
    append(log, 0, 10)
    await log.flush()
    const widened = engine.log<Event>('events', {
      ...options,
      fields: { even: ({ at }) => at % 2 === 0, id: ({ id }) => id },
      numbers: { at: ({ at }) => at, rest: ({ at }) => at % 4 },
    })
    await widened.flush()
    const batches = vi.spyOn(Level.prototype, 'batch')
    const found = async (query: LogQuery) => (await collect(widened.scan(query))).map(({ at }) => at)
    expect(await found({ from: 2, to: 4 })).toEqual([3, 2])
    expect((await widened.list({ limit: 0 })).total).toBe(10)
    expect(batches).not.toHaveBeenCalled()
    expect(await found({ where: { even: true }, to: 7 })).toEqual([6, 4, 2, 0])
    expect(batches).toHaveBeenCalled()
    expect(await found({ atLeast: { rest: 3 } })).toEqual([7, 3])
    expect((await widened.list({ where: { id: 'e5' }, atLeast: { at: 5 } })).total).toBe(1)
  }))

test('older rows are indexed for a number that is new once a query asks for it', () =>
  withEngine(open, async ({ engine }) => {
    const log = engine.log('events', options)
    append(log, 0, 10)
    await log.flush()
    const widened = engine.log<Event>('events', { ...options, numbers: { at: ({ at }) => at } })
    expect((await widened.list({ atLeast: { at: 3 } })).total).toBe(7)
  }))

test('a scan shows the rows of the moment it began at, and ends with the store', () =>
  withEngine(open, async ({ engine }) => {
    const log = engine.log('events', options)
    append(log, 0, 10)
    const seen: number[] = []
    for await (const { at } of log.scan({ reverse: false })) {
      if (at === 0) {
        append(log, 10, 12)
        await log.erase((row) => row.at === 5)
      }
      seen.push(at)
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    const rows = log.scan()[Symbol.asyncIterator]()
    expect(await rows.next()).toMatchObject({ value: { at: 11 } })
    await engine.close()
    await expect(rows.next()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  }))

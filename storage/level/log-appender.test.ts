import { setImmediate as nextTurn } from 'node:timers/promises'
import { Level } from 'level'
import { afterEach, expect, test, vi } from 'vitest'
import { fillUp, hasFullDevice, stayFull } from '../conformance/full-device.ts'
import { withEngine } from '../conformance/harness.ts'
import type { Log, LogOptions } from '../index.ts'
import { openLevel } from '../level.ts'
import type { LevelLog } from './log.ts'
import { LogKeys } from './log-keys.ts'
import { queuedRow } from './queued-row.ts'

interface Event {
  readonly id: string
  readonly at: number
}

const options: LogOptions<Event> = {
  id: ({ id }) => id,
  time: ({ at }) => at,
  fields: { even: ({ at }) => at % 2 === 0 },
  rollup: ({ at }, add) => add(['all', `at${at % 2}`], { events: 1, at }),
  flushMs: 60_000,
}
const keys = new LogKeys('events')
/** UTF-16 units. */
const largestInlineBody = 65_536
const event = (at: number): Event => ({ id: `e${at}`, at })
const append = (log: Log<Event>, from: number, to: number, body?: (at: number) => string | undefined) => {
  for (let at = from; at < to; at++) log.append(event(at), body && (() => body(at)))
}
const timesOf = async (log: Log<Event>) => (await log.list({ reverse: false })).items.map(({ at }) => at)
const times = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)
const small = (folder: string) => openLevel(folder, { logFormat: { chunkRows: 2, blockRows: 4 } })

afterEach(() => {
  vi.restoreAllMocks()
})

/** The keys of a log in each batch that LevelDB writes from now on, with how many rows it has after it. */
function watchBatches() {
  const batches: { keys: string[]; next: number }[] = []
  const { batch } = Level.prototype
  vi.spyOn(Level.prototype, 'batch').mockImplementation(function (this: Level, ...given: unknown[]) {
    const changes = given[0] as { key: string; value: string }[]
    const meta = changes.find(({ key }) => key === keys.meta)
    if (meta) batches.push({ keys: changes.map(({ key }) => key), next: JSON.parse(meta.value).next })
    return Reflect.apply(batch, this, given)
  } as never)
  return batches
}

test('a batch has its chunks, the index of full blocks, large bodies and totals, and nothing twice', () =>
  withEngine(small, async ({ engine }) => {
    const log = engine.log('events', options)
    const batches = watchBatches()
    const large = 'x'.repeat(largestInlineBody + 1)
    append(log, 0, 5, (at) => (at === 1 ? large : at === 2 ? large.slice(1) : undefined))
    await log.flush()
    append(log, 5, 6)
    await log.flush()
    append(log, 6, 8, (at) => `body ${at}`)
    await log.flush()
    const cells = ['all', 'at0', 'at1'].map((name) => keys.cell(name))
    const chunk = (n: number) => [keys.rows(n), keys.bodies(n)]
    const block = (n: number) => [keys.ids(n), keys.times(n), keys.posting(n, 'even'), keys.header(n)]
    expect(batches.map((batch) => batch.keys.toSorted())).toEqual(
      [
        [...chunk(0), ...chunk(1), ...chunk(2), ...block(0), keys.largeBody(1), ...cells, keys.meta],
        [...chunk(2), ...cells.filter((key) => key !== keys.cell('at0')), keys.meta],
        [...chunk(3), ...block(1), ...cells, keys.meta],
      ].map((all) => all.toSorted()),
    )
    expect(await Promise.all([0, 1, 2, 6].map((at) => log.body(`e${at}`)))).toEqual([
      undefined,
      large,
      large.slice(1),
      'body 6',
    ])
  }))

test('a log goes on in its open chunk and block after it was opened again', () =>
  withEngine(small, async ({ engine, reopen }) => {
    append(engine.log('events', options), 0, 7, (at) => `body ${at}`)
    const log = (await reopen()).log('events', options)
    append(log, 7, 10, (at) => `body ${at}`)
    expect(await timesOf(log)).toEqual(times(0, 10))
    expect((await log.list({ where: { even: true } })).total).toBe(5)
    expect(await Promise.all(times(5, 9).map((at) => log.body(`e${at}`)))).toEqual(
      times(5, 9).map((at) => `body ${at}`),
    )
    expect((await log.totals('', '~')).cells).toEqual([
      ['all', { events: 10, at: 45 }],
      ['at0', { events: 5, at: 20 }],
      ['at1', { events: 5, at: 25 }],
    ])
    const again = (await reopen()).log('events', options)
    expect([await timesOf(again), await again.body('e7')]).toEqual([times(0, 10), 'body 7'])
  }))

test('others get their turn while rows are put together that take long', () =>
  withEngine(openLevel, async ({ engine }) => {
    const log = engine.log('events', options)
    await log.flush()
    let now = 0
    let step = 0
    vi.spyOn(performance, 'now').mockImplementation(() => {
      now += step
      return now
    })
    const batches = watchBatches()
    /** Turns until sixty rows are put together, when looking at the clock takes so long. */
    const turnsFor = async (ms: number): Promise<number> => {
      step = ms
      batches.length = 0
      append(log, 0, 60)
      const written = (log as LevelLog<Event>).write()
      let turns = 0
      for (; batches.length === 0; turns++) await nextTurn()
      await written
      return turns
    }
    expect(await turnsFor(0)).toBeLessThan(10)
    const turns = await turnsFor(1)
    expect(turns).toBeGreaterThanOrEqual(20)
    expect(turns).toBeLessThan(30)
    expect(await turnsFor(3)).toBeGreaterThanOrEqual(60)
  }))

test('rows that this log cannot index are dropped with those behind them, and leave nothing behind', () =>
  withEngine(small, async ({ engine }) => {
    const log = engine.log('events', options) as LevelLog<Event>
    append(log, 0, 3)
    await log.flush()
    const other: LogOptions<{ name: string }> = { id: ({ name }) => name, time: () => 1 }
    const rows = [queuedRow(options, event(3), 'body'), queuedRow(other, { name: 'none' }, undefined)]
    await expect(log.take(rows)).rejects.toThrow(TypeError)
    expect(log.status()).toEqual({ depth: 0, bytes: 0, dropped: 2 })
    expect(await timesOf(log)).toEqual([0, 1, 2])
    append(log, 4, 6)
    expect(await timesOf(log)).toEqual([0, 1, 2, 4, 5])
    expect((await log.list({ where: { even: true } })).total).toBe(3)
    expect((await log.totals('all', 'am')).cells).toEqual([['all', { events: 5, at: 12 }]])
  }))

test('rows behind a full batch that cannot be indexed are dropped, and those before them are not', () =>
  withEngine(openLevel, async ({ engine }) => {
    const log = engine.log('events', options) as LevelLog<Event>
    const other: LogOptions<{ name: string }> = { id: ({ name }) => name, time: () => 1 }
    const bad = queuedRow(other, { name: 'none' }, undefined)
    await expect(
      log.take([...times(0, 1000).map((at) => queuedRow(options, event(at), undefined)), bad]),
    ).rejects.toThrow(TypeError)
    expect(log.status().dropped).toBe(1)
    expect((await log.list({ limit: 0 })).total).toBe(1000)
  }))

test('blocks without bodies are not read when old bodies are deleted, and those that have some are', () =>
  withEngine(small, async ({ engine }) => {
    const log = engine.log('events', options)
    append(log, 0, 6)
    append(log, 6, 12, (at) => `body ${at}`)
    await log.flush()
    const reads = vi.spyOn(Level.prototype, 'getMany')
    expect(await log.pruneBodies(100)).toBe(6)
    const read = reads.mock.calls.flatMap(([wanted]) => wanted as string[])
    const bodies = [0, 1, 2, 3, 4, 5].map((chunk) => read.includes(keys.bodies(chunk)))
    expect(bodies).toEqual([false, false, true, true, true, true])
  }))

test('a log whose open chunk is damaged goes on behind it, and its lost rows are none', async () => {
  const report = vi.fn()
  await withEngine(
    (folder) => openLevel(folder, { logFormat: { chunkRows: 4, blockRows: 8 }, report }),
    async ({ engine, folder, reopen }) => {
      append(engine.log('events', options), 0, 6, (at) => `body ${at}`)
      await engine.close()
      const database = new Level<string, string>(folder)
      await database.del(keys.rows(1))
      await database.close()
      const log = (await reopen()).log('events', options)
      append(log, 6, 7, (at) => `body ${at}`)
      expect([await timesOf(log), await log.body('e6')]).toEqual([[0, 1, 2, 3, 6], 'body 6'])
      const again = (await reopen()).log('events', options)
      expect([await timesOf(again), await again.body('e6')]).toEqual([[0, 1, 2, 3, 6], 'body 6'])
      expect(report).not.toHaveBeenCalled()
    },
  )
})

test('a row that is none is told of by the write that follows', async () => {
  const report = vi.fn()
  await withEngine(
    (folder) => openLevel(folder, { report }),
    async ({ engine }) => {
      const log = engine.log('events', options)
      log.append({ id: '', at: 1 })
      expect(report).not.toHaveBeenCalled()
      await log.flush()
      expect(report).toHaveBeenCalledWith(expect.objectContaining({ code: 'ROW_INVALID', part: 'events' }))
    },
  )
})

test.skipIf(!hasFullDevice)('rows that the disk refuses stand before those that come later', () =>
  withEngine(small, async ({ engine, folder, reopen }) => {
    const log = engine.log('events', options)
    append(log, 0, 3, (at) => `body ${at}`)
    await log.flush()
    await fillUp(folder, engine.compact)
    const free = await stayFull(folder)
    append(log, 3, 6)
    const refused = { code: 'STORE_FAILED' }
    await expect(log.flush()).rejects.toMatchObject(refused)
    expect(await timesOf(log)).toEqual([0, 1, 2])
    append(log, 6, 8)
    await expect(log.flush()).rejects.toMatchObject(refused)
    expect([log.status().depth, log.status().dropped]).toEqual([5, 0])
    expect((await log.totals('all', 'am')).cells).toEqual([['all', { events: 3, at: 3 }]])
    await free()
    const again = (await reopen()).log('events', options)
    expect(await timesOf(again)).toEqual(times(0, 8))
    expect((await again.totals('all', 'am')).cells).toEqual([['all', { events: 8, at: 28 }]])
    expect(await again.body('e2')).toBe('body 2')
  }),
)

test('a log whose beginning cannot be read refuses reads, and is read again when it can', () =>
  withEngine(small, async ({ engine }) => {
    const log = engine.log('events', options)
    append(log, 0, 3)
    vi.spyOn(Level.prototype, 'getSync').mockImplementationOnce(() => {
      throw new Error('the disk is away')
    })
    await expect(log.list()).rejects.toThrow('the disk is away')
    expect(await timesOf(log)).toEqual([0, 1, 2])
  }))

test('rows are written in batches of a thousand, or of two megabytes', () =>
  withEngine(openLevel, async ({ engine }) => {
    const log = engine.log('events', options)
    const batches = watchBatches()
    append(log, 0, 1001)
    await log.flush()
    expect(batches.map(({ next }) => next)).toEqual([1000, 1001])
    const json = JSON.stringify(event(3000)).length
    const megabyte = 'x'.repeat(1024 * 1024 - json)
    append(log, 3000, 3003, () => megabyte)
    await log.flush()
    append(log, 4000, 4003, (at) => (at === 4001 ? megabyte.slice(1) : megabyte))
    await log.flush()
    expect(batches.slice(2).map(({ next }) => next)).toEqual([1003, 1004, 1007])
    expect((await log.list({ limit: 1 })).total).toBe(1007)
  }))

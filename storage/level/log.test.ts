import { expect, test, vi } from 'vitest'
import { fillUp, hasFullDevice } from '../conformance/full-device.ts'
import { withEngine } from '../conformance/harness.ts'
import type { Log, LogOptions } from '../index.ts'
import { openLevel } from '../level.ts'
import type { LevelLog } from './log.ts'
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
    await fillUp(folder, engine.compact)
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
    for (let n = 0; n < 512; n++) log.append(event(100 + n))
    await vi.waitFor(() => expect(log.status().depth).toBe(0), 10_000)
  }),
)

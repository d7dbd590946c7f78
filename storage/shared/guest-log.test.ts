import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { fillUp, hasFullDevice } from '../conformance/full-device.ts'
import { collect } from '../conformance/harness.ts'
import { type Call, callOf, callOptions, LogModel } from '../conformance/log-model.ts'
import type { LogOptions, LogQuery, StoreProblem } from '../index.ts'
import { withEnds } from './ends-parts.ts'

const options = { ...callOptions, flushMs: 60_000 }
const rowSchema = z.number()

test('a log of another thread answers what the rows say, whatever is asked, and forgets what is pruned', () =>
  withEnds(async (a) => {
    const log = a.log('calls', options)
    const model = new LogModel()
    for (let n = 0; n < 12; n++) {
      const body = n % 2 ? `body ${n}` : undefined
      log.append(callOf(n), () => body)
      model.append(callOf(n), body)
    }
    const filter = ({ at }: Call): boolean => at % 2 === 0
    const queries: LogQuery[] = [
      { limit: 3 },
      { limit: 3, offset: 2, reverse: false },
      { offset: 11 },
      { limit: 0 },
      { where: { model: 'gpt' }, offset: 1 },
      { filter },
      { filter, limit: 2 },
      { filter, limit: 2, offset: 1, reverse: false },
      { filter, limit: 0 },
      { filter: () => false },
      { from: 3, to: 9, atLeast: { at: 5 } },
    ]
    for (const query of queries) await model.checkQuery(log, query)
    await model.check(log)
    expect(await log.pruneBodies(4)).toBe(model.removeBodies(4))
    expect(await log.prune(2)).toBe(model.remove(({ at }) => at < 2))
    expect(await log.erase(({ at }) => at === 7)).toBe(model.remove(({ at }) => at === 7))
    await model.check(log)
    expect(await log.forgetTotals('0000', '0001')).toBe(4)
    for (const cell of model.totals.keys()) if (cell < '0001') model.totals.delete(cell)
    await log.prepare()
    const after = await log.placeOf('call9')
    expect((await log.list({ after: after!, limit: 1 })).items).toEqual([callOf(8)])
    expect(await log.placeOf('nobody')).toBeUndefined()
    for (const page of [{ limit: -1 }, { offset: -1 }, { limit: Number.NaN }])
      for (const query of [page, { ...page, filter }]) {
        await expect(log.list(query)).rejects.toMatchObject({ code: 'QUERY_INVALID' })
        await expect(collect(log.scan(query))).rejects.toMatchObject({ code: 'QUERY_INVALID' })
      }
    await expect(log.erase(fail)).rejects.toThrow('out of order')
    await model.check(log)
  }))

function fail(): never {
  throw new Error('out of order')
}

const rollup: LogOptions<Call>['rollup'] = ({ at }, add) => add([`at${at}`], { calls: 1 })

test('rows are on disk after a flush, and options that come later hold for rows that come after them', () =>
  withEnds(async (a, _, { engine }) => {
    const log = a.log('calls', options)
    log.append(callOf(1))
    expect(log.status().depth).toBe(1)
    await log.flush()
    expect(log.status().depth).toBe(0)
    log.append(callOf(2))
    a.log('calls', { ...options, fields: { at: ({ at }) => at }, maxQueueBytes: 500, rollup })
    for (let n = 3; n < 20; n++) log.append(callOf(n))
    const rows = await collect(log.scan())
    expect(rows.at(-1)).toEqual(callOf(1))
    expect((await log.totals('at', 'au')).cells.length).toBe(rows.length - 2)
    const { dropped } = log.status()
    expect(dropped).toBeGreaterThan(0)
    expect((await log.list({ where: { at: [1, 2] } })).total).toBe(2)
    expect(await collect(log.scan({ where: { at: 3 } }))).toEqual([callOf(3)])
    expect((await log.list()).total).toBe(19 - dropped)
    await engine.flush()
  }))

test('what is no row is dropped, and told of once', async () => {
  const problems: StoreProblem[] = []
  await withEnds(
    async (a) => {
      const log = a.log('calls', options)
      log.append({ id: '' } as Call)
      log.append(callOf(1))
      expect((await log.list()).items).toEqual([callOf(1)])
      expect(log.status()).toMatchObject({ depth: 0, bytes: 0, dropped: 1 })
      expect((await log.list()).total).toBe(1)
      const other = a.log('other', options)
      other.append({ id: '' } as Call)
      expect(await other.list()).toEqual({ items: [], total: 0 })
    },
    { report: (problem) => problems.push(problem) },
  )
  expect(problems).toMatchObject([
    { code: 'ROW_INVALID', part: 'calls' },
    { code: 'ROW_INVALID', part: 'other' },
  ])
})

test.skipIf(!hasFullDevice)('rows that the disk refuses wait in their thread, and come in their order', () =>
  withEnds(async (a, _, { engine, folder }) => {
    const log = a.log('calls', options)
    log.append(callOf(0))
    await log.flush()
    await fillUp(folder, engine.compact)
    await expect(engine.collection('rows', { schema: rowSchema }).put('a', 1)).rejects.toMatchObject({
      code: 'STORE_FAILED',
    })
    for (let n = 1; n < 4; n++) log.append(callOf(n))
    expect((await log.list()).items).toEqual([callOf(0)])
    expect(log.status()).toMatchObject({ depth: 3, dropped: 0 })
    await vi.waitFor(() => expect(log.status()).toMatchObject({ depth: 0, bytes: 0, dropped: 0 }), 10_000)
    expect((await log.list({ reverse: false })).items).toEqual([0, 1, 2, 3].map(callOf))
    for (let n = 0; n < 512; n++) log.append(callOf(100 + n))
    await vi.waitFor(() => expect(log.status().depth).toBe(0), 10_000)
  }),
)

import { describe, expect, test } from 'vitest'
import type { LogOptions, LogQuery } from '../index.ts'
import { collect, type OpenEngine, withEngine } from './harness.ts'
import { logHistories } from './log-histories.ts'
import { logIndexes } from './log-indexes.ts'
import { type Call, callOf, callOptions, LogModel } from './log-model.ts'

/** What every engine's logs must do. */
export function logConformance(open: OpenEngine): void {
  logHistories(open)
  logIndexes(open)
  describe('a log', () => {
    test(
      'answers every field, combination and range over several thousand rows',
      () =>
        withEngine(open, async ({ engine, reopen }) => {
          const model = new LogModel()
          const log = engine.log('calls', { ...callOptions, rollup: () => {} })
          for (let n = 0; n < 5000; n++) {
            const call = {
              ...callOf(n),
              at: n + ((n * 37) % 50),
              cached: n % 9 === 0,
              tags: [`t${n % 700}`, 'all'],
            }
            log.append(call)
            model.append(call, undefined)
          }
          const queries: LogQuery[] = [
            { limit: 5 },
            { limit: 5, offset: 4990 },
            { where: { tag: 't77' } },
            { where: { model: 'gpt', status: 500, cached: true }, limit: 7, offset: 3 },
            { where: { model: ['gpt', 'gpt-mini'], tag: ['t1', 't2', 't3'] }, limit: 4, reverse: false },
            { where: { tag: 'all' }, from: 1000, to: 3100, limit: 10, offset: 2000 },
            { from: 2500, to: 2501 },
            { atLeast: { at: 4321 }, limit: 5 },
            { atLeast: { at: 1234.5, code: 201 }, where: { model: 'gpt' }, from: 2000, limit: 3, offset: 9 },
            { filter: (call: Call) => call.at % 1000 === 7, limit: 3 },
            { where: { tag: 'none' } },
          ]
          for (const query of queries) await model.checkQuery(log, query)
          const again = (await reopen()).log('calls', callOptions)
          for (const query of queries) await model.checkQuery(again, query)
        }),
      60_000,
    )

    test('shows a row to queries as soon as it is appended', () =>
      withEngine(open, async ({ engine }) => {
        const log = engine.log('calls', callOptions)
        for (let n = 0; n < 50; n++) {
          log.append(callOf(n), () => `body ${n}`)
          expect((await log.list({ limit: 1 })).items).toEqual([callOf(n)])
          expect(await log.body(`call${n}`)).toBe(`body ${n}`)
        }
      }))

    test('writes what waits when the interval is over, and when it is closed', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const log = engine.log('calls', { ...callOptions, flushMs: 10 })
        log.append(callOf(1))
        expect(log.status().depth).toBe(1)
        await expect.poll(() => log.status().depth).toBe(0)
        log.append(callOf(2))
        const again = (await reopen()).log('calls', callOptions)
        expect((await again.list()).items).toEqual([callOf(2), callOf(1)])
      }))

    test('drops, counts and survives rows that are not JSON, or that its functions refuse', () =>
      withEngine(open, async ({ engine }) => {
        const log = engine.log<Call & { loop?: unknown }>('calls', callOptions)
        const loop: { itself?: unknown } = {}
        loop.itself = loop
        const noTime: unknown = { id: 'x' }
        log.append({ ...callOf(1), loop })
        log.append(callOf(2), () => {
          throw new Error('no body')
        })
        log.append(noTime as Call)
        expect((await log.list()).items).toEqual([callOf(2)])
        expect(await log.body('call2')).toBeUndefined()
        expect(log.status()).toMatchObject({ depth: 0, bytes: 0, dropped: 2 })
      }))

    test('drops and counts rows beyond the bound of its queue', () =>
      withEngine(open, async ({ engine }) => {
        const log = engine.log('calls', { ...callOptions, maxQueueBytes: 100_000 })
        const body = 'x'.repeat(20_000)
        for (let n = 0; n < 50; n++) log.append(callOf(n), () => body)
        const { depth, dropped, bytes } = log.status()
        expect(depth + dropped).toBe(50)
        expect(bytes).toBeLessThanOrEqual(100_000)
        expect((await log.list()).total).toBe(depth)
        const flushing = log.flush()
        for (let n = 50; n < 100; n++) {
          log.append(callOf(n), () => body)
          if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
          expect(log.status().bytes).toBeLessThanOrEqual(100_000)
        }
        await flushing
        expect((await log.list()).total + log.status().dropped).toBe(100)
      }))

    test('finds the rows of one moment and deletes bodies in steps, wherever in a block they fall', () =>
      withEngine(open, async ({ engine }) => {
        const log = engine.log('calls', callOptions)
        for (let n = 0; n < 100; n++) log.append(callOf(n), () => 'body')
        for (let n = 0; n < 100; n++) {
          expect(await log.list({ from: n, to: n + 1 })).toEqual({ items: [callOf(n)], total: 1 })
        }
        for (let before = 7; before < 107; before += 10) {
          expect(await log.pruneBodies(before)).toBe(before === 7 ? 7 : 10)
        }
      }))

    test('keeps totals when rows are pruned', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const log = engine.log('calls', callOptions)
        for (let n = 0; n < 40; n++) log.append(callOf(n))
        const { cells: before } = await log.totals('', '~')
        expect(before.reduce((sum, [cell, { calls = 0 }]) => sum + (cell.includes('|') ? 0 : calls), 0)).toBe(
          40,
        )
        expect(await log.prune(1000)).toBe(40)
        expect(await log.list()).toEqual({ items: [], total: 0 })
        const again = (await reopen()).log('calls', callOptions)
        expect((await again.totals('', '~')).cells).toEqual(before)
      }))

    test('ends sums where whole numbers end, and leaves out of them what is no number', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const amounts = [2 ** 53 - 1, 2 ** 53 - 1, 1, 1e300, -1e300, Number.NaN, Infinity]
        const options: LogOptions<Call> = {
          ...callOptions,
          rollup: ({ at }, add) =>
            add([`cell${at % 2}`], { calls: 1, sum: amounts[at]!, less: -amounts[at]! }),
        }
        const log = engine.log('calls', options)
        for (const n of amounts.keys()) log.append(callOf(n))
        const { cells } = await (await reopen()).log('calls', options).totals('', '~')
        const most = Number.MAX_SAFE_INTEGER
        expect(cells).toEqual([
          ['cell0', { calls: 4, sum: most, less: -most }],
          ['cell1', { calls: 3, sum: most, less: -most }],
        ])
      }))

    test('forgets the totals of a range, and counts anew there', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const log = engine.log('calls', callOptions)
        for (let n = 0; n < 40; n++) log.append(callOf(n))
        const { cells: before } = await log.totals('', '~')
        const [from, to] = [before[1]![0], before[3]![0]]
        expect(await log.forgetTotals(from, to)).toBe(2)
        expect(await log.forgetTotals(from, to)).toBe(0)
        expect((await log.totals('', '~')).cells).toEqual([before[0], ...before.slice(3)])
        for (let n = 0; n < 40; n++) log.append(callOf(n))
        const again = new Map((await (await reopen()).log('calls', callOptions).totals('', '~')).cells)
        expect(again.get(from)).toEqual(before[1]![1])
        expect(again.get(before[0]![0])!.calls).toBe(2 * before[0]![1].calls!)
      }))

    test(
      'reads while rows are appended, pruned and erased',
      () =>
        withEngine(open, async ({ engine }) => {
          const log = engine.log('calls', { ...callOptions, flushMs: 1 })
          let appended = 0
          const append = async () => {
            for (; appended < 600; appended++) {
              log.append(callOf(appended), () => 'x')
              if (appended % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
            }
          }
          const read = async () => {
            while (appended < 600) {
              const { items, total } = await log.list({ where: { status: 200 } })
              expect(items).toHaveLength(total)
              const scanned = await collect(log.scan({ reverse: false }))
              expect(scanned.map(({ at }) => at)).toEqual(scanned.map(({ at }) => at).sort((a, b) => a - b))
            }
          }
          const remove = async () => {
            for (let before = 0; before <= 200; before += 20) {
              await log.prune(before)
              await log.erase(({ at }) => at === before + 5)
              await log.pruneBodies(before + 100)
            }
          }
          await Promise.all([append(), read(), read(), remove()])
          const { items } = await log.list()
          expect(items).toHaveLength(new Set(items.map(({ id }) => id)).size)
          expect(items.every(({ at }) => at >= 200)).toBe(true)
          expect(items.length).toBeGreaterThanOrEqual(398)
        }),
      60_000,
    )

    test.each([true, false])(
      'gives each row that stays once on its pages, whatever comes and goes (%s)',
      (reverse) =>
        withEngine(open, async ({ engine }) => {
          const log = engine.log('calls', callOptions)
          for (let n = 0; n < 200; n++)
            log.append({ ...callOf(n), tags: n % 3 ? ['stays'] : ['goes', 'stays'] })
          for (const where of [{}, { tag: 'stays' }, { status: [200, 500], tag: 'stays' }]) {
            const all = (await log.list({ where, reverse })).items.filter(
              ({ tags }) => !tags.includes('goes'),
            )
            const found: string[] = []
            let after: string | undefined
            for (let page = 0; page === 0 || after !== undefined; page++) {
              const { items, next } = await log.list({ where, reverse, limit: 7, ...(after && { after }) })
              found.push(...items.map(({ id }) => id))
              after = next
              if (page > 3) continue
              for (let n = 0; n < 10; n++) log.append({ ...callOf(1000 + n), tags: ['stays', 'goes'] })
              await log.erase(({ at, tags }) => tags.includes('goes') && at % 4 === page)
            }
            const ids = new Set(all.map(({ id }) => id))
            expect(found.filter((id) => ids.has(id))).toEqual(all.map(({ id }) => id))
          }
          const place = await log.placeOf('call50')
          const [behind] = (await log.list({ after: place!, reverse, limit: 1 })).items
          expect(behind?.at).toBe(reverse ? 49 : 52)
          expect(await log.placeOf('nobody')).toBeUndefined()
          await expect(log.list({ after: 'nonsense' })).rejects.toMatchObject({ code: 'QUERY_INVALID' })
          await expect(log.list({ after: '' })).rejects.toMatchObject({ code: 'QUERY_INVALID' })
        }),
    )

    test('refuses a field it does not have and negative limits', () =>
      withEngine(open, async ({ engine }) => {
        const log = engine.log('calls', callOptions)
        await expect(log.list({ where: { colour: 'red' } })).rejects.toMatchObject({ code: 'INDEX_UNKNOWN' })
        await expect(collect(log.scan({ where: { colour: 'red' } }))).rejects.toMatchObject({
          code: 'INDEX_UNKNOWN',
        })
        await expect(log.list({ offset: -1 })).rejects.toMatchObject({ code: 'QUERY_INVALID' })
      }))
  })
}

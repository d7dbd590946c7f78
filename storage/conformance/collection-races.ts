import { describe, expect, test } from 'vitest'
import { CollectionModel, Counter, itemOptions } from './collection-model.ts'
import { type OpenEngine, withEngine } from './harness.ts'

/** What many do to a collection at once. */
export function collectionRaces(open: OpenEngine): void {
  describe('a collection', () => {
    test('keeps counts and indexes right when many writes run at once', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const items = engine.collection('items', itemOptions)
        const model = new CollectionModel()
        const write = async (n: number) => {
          const id = `id${n % 40}`
          const item = { label: `label${n % 7}`, size: n % 5, tags: n % 2 ? ['odd'] : [] }
          if (n % 11 === 0) await items.delete(id)
          else await items.put(id, item)
        }
        await Promise.all(Array.from({ length: 500 }, (_, n) => write(n)))
        for await (const [id, row] of items.scan()) model.rows.set(id, row)
        await model.check(items)
        await model.check((await reopen()).collection('items', itemOptions))
      }))

    test('loses none of 1,000 parallel updates of one id', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const counters = engine.collection('counters', { schema: Counter })
        const seen = await Promise.all(
          Array.from({ length: 1000 }, () => counters.update('one', (row) => ({ n: (row?.n ?? 0) + 1 }))),
        )
        expect(new Set(seen.map((row) => row?.n)).size).toBe(1000)
        const again = (await reopen()).collection('counters', { schema: Counter })
        expect(await again.get('one')).toEqual({ n: 1000 })
      }))

    test('lets exactly one of many parallel creates have the id', () =>
      withEngine(open, async ({ engine }) => {
        const counters = engine.collection('counters', { schema: Counter })
        const won = await Promise.all(Array.from({ length: 100 }, (_, n) => counters.create('one', { n })))
        expect(won.filter(Boolean)).toHaveLength(1)
        expect(await counters.get('one')).toEqual({ n: won.indexOf(true) })
        expect(await counters.count()).toBe(1)
      }))

    test('runs writes to one id in the order they were called', () =>
      withEngine(open, async ({ engine }) => {
        const counters = engine.collection('counters', { schema: Counter })
        const steps = [
          counters.put('one', { n: 1 }),
          counters.update('one', (row) => row && { n: row.n * 10 }),
          counters.delete('one'),
          counters.create('one', { n: 5 }),
          counters.update('one', (row) => row && { n: row.n + 1 }),
        ]
        expect(await Promise.all(steps)).toEqual([undefined, { n: 10 }, true, true, { n: 6 }])
        expect(await counters.get('one')).toEqual({ n: 6 })
      }))

    test('answers from a write that waits only when that write is on disk', () =>
      withEngine(open, async ({ engine }) => {
        const counters = engine.collection('counters', { schema: Counter })
        await counters.put('gone', { n: 1 })
        const order: string[] = []
        const note = (what: string) => () => order.push(what)
        await Promise.all([
          counters.put('one', { n: 1 }).then(note('put')),
          counters.create('one', { n: 2 }).then(note('refused')),
          counters.update('one', () => undefined).then(note('left as it is')),
          counters.delete('gone').then(note('deleted')),
          counters.delete('gone').then(note('not there')),
        ])
        expect(order.indexOf('put')).toBeLessThan(order.indexOf('refused'))
        expect(order.indexOf('put')).toBeLessThan(order.indexOf('left as it is'))
        expect(order.indexOf('deleted')).toBeLessThan(order.indexOf('not there'))
      }))
  })
}

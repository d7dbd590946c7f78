import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Change } from '../index.ts'
import { CollectionModel, type Item, itemOptions } from './collection-model.ts'
import { collect, type OpenEngine, withEngine } from './harness.ts'

const Counter = z.object({ n: z.number() })

/** Ids and texts that are prefixes of one another, hold separators, or sort differently as UTF-16. */
const trickyTexts = [
  'a',
  'ab',
  'a!',
  'a/b',
  'a b',
  'é',
  '\u{1F600}',
  '\uFFEE',
  'B',
  '0',
  '__proto__',
  '\u0001',
  'ab\u0002',
]
const aText = fc.constantFrom(...trickyTexts)
const anItem = fc.record(
  {
    label: fc.oneof(aText, fc.constant('with\0nul'), fc.constant('\u0001\u0001'), fc.constant('')),
    size: fc.oneof(
      fc.integer({ min: -3, max: 3 }),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    ),
    on: fc.boolean(),
    tags: fc.array(aText, { maxLength: 3 }),
  },
  { requiredKeys: ['label', 'tags'] },
)
const anOperation = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), id: aText, item: anItem }),
  fc.record({ kind: fc.constant('create' as const), id: aText, item: anItem }),
  fc.record({ kind: fc.constant('update' as const), id: aText, item: fc.option(anItem, { nil: undefined }) }),
  fc.record({ kind: fc.constant('delete' as const), id: aText }),
  fc.record({ kind: fc.constant('reopen' as const) }),
)

/** What every engine's collections must do. */
export function collectionConformance(open: OpenEngine): void {
  describe('a collection', () => {
    test('equals a simple model after every step of any history', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anOperation, { maxLength: 12 }), (operations) =>
          withEngine(open, async ({ engine, reopen }) => {
            let items = engine.collection('items', itemOptions)
            const model = new CollectionModel()
            for (const operation of operations) {
              switch (operation.kind) {
                case 'put':
                  await items.put(operation.id, operation.item)
                  model.rows.set(operation.id, operation.item)
                  break
                case 'create':
                  expect(await items.create(operation.id, operation.item)).toBe(!model.rows.has(operation.id))
                  if (!model.rows.has(operation.id)) model.rows.set(operation.id, operation.item)
                  break
                case 'update': {
                  const before = model.rows.get(operation.id)
                  const written = await items.update(operation.id, (row) => {
                    expect(row).toEqual(before)
                    return operation.item
                  })
                  expect(written).toEqual(operation.item)
                  if (operation.item) model.rows.set(operation.id, operation.item)
                  break
                }
                case 'delete':
                  expect(await items.delete(operation.id)).toBe(model.rows.delete(operation.id))
                  break
                case 'reopen':
                  items = (await reopen()).collection('items', itemOptions)
              }
              await model.check(items)
            }
          }),
        ),
        { numRuns: 25 },
      )
    }, 120_000)

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

    test('stores what the schema returns and refuses what it refuses', () =>
      withEngine(open, async ({ engine }) => {
        const items = engine.collection('items', itemOptions)
        const loose: unknown = { label: 'x', extra: true }
        await items.put('x', loose as Item)
        expect(await items.get('x')).toEqual({ label: 'x', tags: [] })
        const wrong: unknown = { label: 7 }
        await expect(items.put('y', wrong as Item)).rejects.toMatchObject({ code: 'ROW_INVALID' })
        await expect(items.update('x', () => wrong as Item)).rejects.toMatchObject({ code: 'ROW_INVALID' })
        expect(await items.get('x')).toEqual({ label: 'x', tags: [] })
        expect(await items.count()).toBe(1)
      }))

    test('writes nothing when the function given to update throws', () =>
      withEngine(open, async ({ engine }) => {
        const counters = engine.collection('counters', { schema: Counter })
        await counters.put('one', { n: 1 })
        const failing = counters.update('one', () => {
          throw new Error('no')
        })
        await expect(failing).rejects.toThrow('no')
        expect(await counters.get('one')).toEqual({ n: 1 })
      }))

    test('refuses ids that cannot be keys, and finds nothing under them', () =>
      withEngine(open, async ({ engine }) => {
        const counters = engine.collection('counters', { schema: Counter })
        for (const id of ['', 'a\0b', '\ud800', 'x'.repeat(1025)]) {
          await expect(counters.put(id, { n: 1 })).rejects.toMatchObject({ code: 'ID_INVALID' })
          await expect(counters.create(id, { n: 1 })).rejects.toMatchObject({ code: 'ID_INVALID' })
          expect(await counters.get(id)).toBeUndefined()
          expect(await counters.delete(id)).toBe(false)
        }
        expect(await counters.count()).toBe(0)
      }))

    test('says which indexes there are when asked for another', () =>
      withEngine(open, async ({ engine }) => {
        const items = engine.collection('items', itemOptions)
        await expect(items.list({ index: 'colour' })).rejects.toMatchObject({
          code: 'INDEX_UNKNOWN',
          message: expect.stringContaining('label, size, tag, any'),
        })
        await expect(items.list({ equals: 'x' })).rejects.toMatchObject({ code: 'QUERY_INVALID' })
        await expect(items.list({ limit: -1 })).rejects.toMatchObject({ code: 'QUERY_INVALID' })
      }))

    test('tells long index values apart', () =>
      withEngine(open, async ({ engine }) => {
        const items = engine.collection('items', itemOptions)
        const long = 'x'.repeat(5000)
        await items.put('1', { label: `${long}1`, tags: [] })
        await items.put('2', { label: `${long}2`, tags: [] })
        expect(await items.count({ index: 'label', equals: `${long}1` })).toBe(1)
        expect((await items.list({ index: 'label', equals: `${long}2` })).total).toBe(1)
        expect(await items.count({ index: 'label', equals: long })).toBe(0)
      }))

    test('scans as of one moment', () =>
      withEngine(open, async ({ engine }) => {
        const counters = engine.collection('counters', { schema: Counter })
        await Promise.all(Array.from({ length: 1000 }, (_, n) => counters.put(`id${n}`, { n })))
        let seen = 0
        for await (const [id] of counters.scan()) {
          if (seen++ === 0) await Promise.all([counters.delete('id999'), counters.put('new', { n: 1 })])
          expect(id).not.toBe('new')
        }
        expect(seen).toBe(1000)
      }))

    test('tells listeners of each acknowledged write, in order, until they leave', () =>
      withEngine(open, async ({ engine }) => {
        const counters = engine.collection('counters', { schema: Counter })
        const changes: Change<{ n: number }>[] = []
        counters.watch(() => {
          throw new Error('a listener of somebody else')
        })
        const leave = counters.watch((change) => changes.push(change))
        await Promise.all([counters.put('a', { n: 1 }), counters.put('a', { n: 2 }), counters.delete('a')])
        await counters.update('a', () => undefined)
        leave()
        await counters.put('a', { n: 3 })
        expect(changes).toEqual([
          { id: 'a', row: { n: 1 } },
          { id: 'a', row: { n: 2 } },
          { id: 'a', row: undefined },
        ])
      }))

    test('is one and the same for all handles of its name', () =>
      withEngine(open, async ({ engine }) => {
        const first = engine.collection('counters', { schema: Counter })
        const second = engine.collection('counters', { schema: Counter })
        const add = (row: { n: number } | undefined) => ({ n: (row?.n ?? 0) + 1 })
        const heard: string[] = []
        first.watch(({ id }) => heard.push(id))
        await Promise.all(Array.from({ length: 100 }, (_, n) => (n % 2 ? first : second).update('one', add)))
        expect(await first.get('one')).toEqual({ n: 100 })
        expect(heard).toHaveLength(100)
      }))

    test('keeps apart what has different names, namespaces or kinds', () =>
      withEngine(open, async ({ engine }) => {
        const a = engine.namespace('a')
        const parts = [
          engine.collection('b', itemOptions),
          engine.collection('b-b', itemOptions),
          engine.collection('bb', itemOptions),
          a.collection('b', itemOptions),
          a.namespace('b').collection('b', itemOptions),
          engine.namespace('ab').collection('b', itemOptions),
        ]
        for (const [n, part] of parts.entries()) await part.put('id', { label: `part ${n}`, tags: ['t'] })
        engine.log<{ id: string }>('b', { id: (row) => row.id, time: () => 1 }).append({ id: 'x' })
        await engine.sequence('b', Counter).append(() => ({ n: 1 }))
        ;(await engine.counters('b')).add('b', 1)
        await engine.flush()
        for (const [n, part] of parts.entries()) {
          expect(await part.list({ index: 'tag', equals: 't' })).toEqual({
            items: [{ label: `part ${n}`, tags: ['t'] }],
            total: 1,
          })
          expect(await collect(part.scan())).toHaveLength(1)
        }
        expect(() => engine.collection('a/b', itemOptions)).toThrow(
          expect.objectContaining({ code: 'NAME_INVALID' }),
        )
        expect(() => engine.namespace('A')).toThrow(expect.objectContaining({ code: 'NAME_INVALID' }))
      }))
  })
}

import { describe, expect, test } from 'vitest'
import type { Change } from '../index.ts'
import { collectionHistories } from './collection-histories.ts'
import { Counter, type Item, itemOptions } from './collection-model.ts'
import { collectionPages } from './collection-pages.ts'
import { collectionRaces } from './collection-races.ts'
import { collect, type OpenEngine, withEngine } from './harness.ts'

/** What every engine's collections must do. */
export function collectionConformance(open: OpenEngine): void {
  collectionHistories(open)
  collectionRaces(open)
  collectionPages(open)
  describe('a collection', () => {
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
          await expect(counters.update(id, () => ({ n: 1 }))).rejects.toMatchObject({ code: 'ID_INVALID' })
          expect(await counters.get(id)).toBeUndefined()
          expect(await counters.update(id, (row) => row)).toBeUndefined()
          expect(await counters.delete(id)).toBe(false)
        }
        expect(await counters.count()).toBe(0)
      }))

    test('says which indexes there are when asked for another', () =>
      withEngine(open, async ({ engine }) => {
        const items = engine.collection('items', itemOptions)
        await expect(items.list({ index: 'colour' })).rejects.toMatchObject({
          code: 'INDEX_UNKNOWN',
          message: expect.stringContaining('label, size, tag, any, pair, triple'),
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

import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type OpenEngine, withEngine } from './harness.ts'

/** What every engine must do with rows that an older program wrote. */
export function migrationConformance(open: OpenEngine): void {
  describe('a collection whose rows change shape', () => {
    const Old = z.object({ name: z.string() })
    const New = z.object({ first: z.string(), last: z.string() })
    const newer = {
      schema: New,
      version: 2,
      indexes: { last: (row: z.infer<typeof New>) => row.last },
      migrate(row: unknown) {
        const [first, last] = Old.parse(row).name.split(' ')
        return { first, last }
      },
    }

    test('has its rows migrated once, at open, with indexes and counts', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const old = engine.collection('people', { schema: Old, indexes: { name: (row) => row.name } })
        await Promise.all(
          Array.from({ length: 450 }, (_, n) => old.put(`id${n}`, { name: `Ann Lee${n % 3}` })),
        )
        const people = (await reopen()).collection('people', newer)
        expect(await people.get('id7')).toEqual({ first: 'Ann', last: 'Lee1' })
        expect((await people.list({ index: 'last', equals: 'Lee2', limit: 1 })).total).toBe(150)
        expect(await people.count()).toBe(450)
        const forbidden = () => {
          throw new Error('migrated twice')
        }
        const again = (await reopen()).collection('people', { ...newer, migrate: forbidden })
        expect(await again.count({ index: 'last' })).toBe(450)
        expect(await again.get('id0')).toEqual({ first: 'Ann', last: 'Lee0' })
      }))

    test('has its rows prepared together before, which are then the ones to be migrated', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const old = engine.collection('people', { schema: Old })
        for (const name of ['Ann Lee', 'Bob Ray']) await old.put(name, { name })
        const prepared = new Map<unknown, unknown>()
        const people = (await reopen()).collection('people', {
          ...newer,
          async prepare(rows) {
            await new Promise((resolve) => setImmediate(resolve))
            for (const { row, version } of rows) prepared.set(row, version === 1 && newer.migrate(row))
          },
          migrate: (row) => prepared.get(row),
        })
        expect((await people.list({ index: 'last' })).items).toEqual([
          { first: 'Ann', last: 'Lee' },
          { first: 'Bob', last: 'Ray' },
        ])
      }))

    test('gets an index that is new by its name, and loses one that is gone', () =>
      withEngine(open, async ({ engine, reopen }) => {
        await engine
          .collection('people', { schema: Old, indexes: { name: (row) => row.name } })
          .put('1', { name: 'x' })
        const long = { schema: Old, indexes: { length: (row: { name: string }) => row.name.length } }
        const people = (await reopen()).collection('people', long)
        expect((await people.list({ index: 'length', equals: 1 })).total).toBe(1)
        await expect(people.list({ index: 'name' })).rejects.toMatchObject({ code: 'INDEX_UNKNOWN' })
        await people.delete('1')
        const both = (await reopen()).collection('people', {
          schema: Old,
          indexes: { ...long.indexes, name: (row) => row.name },
        })
        expect(await both.list({ index: 'name' })).toEqual({ items: [], total: 0 })
      }))

    test('leaves out a row that could not be migrated, and tries it again', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const old = engine.collection('people', { schema: Old })
        await old.put('1', { name: 'Ann Lee' })
        await old.put('2', { name: 'Cher' })
        const people = (await reopen()).collection('people', newer)
        expect(await people.list()).toEqual({
          items: [{ first: 'Ann', last: 'Lee' }],
          total: 2,
          unreadable: 1,
        })
        await expect(people.get('2')).rejects.toMatchObject({ code: 'ROW_UNREADABLE' })
        const lenient = { ...newer, migrate: (row: unknown) => ({ first: Old.parse(row).name, last: '' }) }
        const mended = (await reopen()).collection('people', lenient)
        expect(await mended.get('2')).toEqual({ first: 'Cher', last: '' })
        expect(await mended.count({ index: 'last' })).toBe(2)
      }))

    test('is not opened by a program that knows only an older version', () =>
      withEngine(open, async ({ engine, reopen }) => {
        await engine.collection('people', newer).put('1', { first: 'Ann', last: 'Lee' })
        const older = (await reopen()).collection('people', { schema: Old })
        await expect(older.get('1')).rejects.toMatchObject({ code: 'VERSION_AHEAD' })
        await expect(older.put('1', { name: 'x' })).rejects.toMatchObject({ code: 'VERSION_AHEAD' })
      }))

    test('takes the options of the handle made last while it is open', () =>
      withEngine(open, async ({ engine }) => {
        const old = engine.collection('people', { schema: Old })
        await old.put('1', { name: 'Ann Lee' })
        const people = engine.collection('people', newer)
        expect(await people.list({ index: 'last', equals: 'Lee' })).toEqual({
          items: [{ first: 'Ann', last: 'Lee' }],
          total: 1,
        })
        await expect(old.put('2', { name: 'x' })).rejects.toMatchObject({ code: 'ROW_INVALID' })
      }))
  })
}

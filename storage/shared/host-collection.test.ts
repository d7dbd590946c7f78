import { expect, test } from 'vitest'
import { settled, withHost } from './host-parts.ts'
import type { Batch, StoreNews } from './messages.ts'
import { Counter } from './threads-parts.ts'

const rows = { part: 1, kind: 'collection', path: [], name: 'rows' } as const
const rowOf = (n: number) => ({ row: { n }, values: { n } })

test('a listing of many rows is read on, batch by batch, or ended', () =>
  withHost(async ({ open, call }) => {
    await open(rows)
    await Promise.all(Array.from({ length: 101 }, (_, n) => call(1, 'put', `row${n}`, rowOf(n))))
    const first = (await call(1, 'scan', {})) as Batch
    expect([first.items.length, first.isOver]).toEqual([100, false])
    expect(await call(1, 'more', first.cursor)).toMatchObject({ items: [['row99', { n: 99 }]], isOver: true })
    const second = (await call(1, 'scan', {})) as Batch
    await call(1, 'done', second.cursor)
    expect(await call(1, 'more', second.cursor)).toMatchObject({ items: [], isOver: true })
  }))

test('who does not watch any more is told nothing, and who watches twice is told once', () =>
  withHost(async ({ engine, open, call, news }) => {
    await open(rows)
    const theirs = engine.collection('rows', { schema: Counter })
    await call(1, 'unwatch')
    await call(1, 'watch')
    await call(1, 'watch')
    await theirs.put('one', { n: 1 })
    await call(1, 'unwatch')
    await theirs.put('one', { n: 2 })
    await call(1, 'watch')
    await theirs.put('one', { n: 3 })
    expect(news).toEqual([1, 3].map((n) => ({ part: 1, changed: { id: 'one', row: { n } } })))
  }))

test('a write waits until it is heard where it is watched, and other writes do not', async () => {
  const answer = Promise.withResolvers<void>()
  const hear = (news: StoreNews) => 'changed' in news && news.changed.id === 'slow' && answer.promise
  await withHost(async ({ open, call }) => {
    await open(rows)
    await open({ ...rows, part: 2, name: 'others' })
    await call(1, 'watch')
    const done: string[] = []
    const writes = [
      call(1, 'put', 'slow', rowOf(1)).then(() => done.push('put')),
      call(1, 'create', 'slow', rowOf(1)).then(() => done.push('create')),
      call(1, 'swap', 'slow', { n: 1 }, rowOf(2)).then(() => done.push('swap')),
      call(1, 'delete', 'slow').then(() => done.push('delete')),
    ]
    await call(1, 'put', 'quick', rowOf(1))
    await call(2, 'put', 'slow', rowOf(1))
    await settled()
    expect(done).toEqual([])
    answer.resolve()
    await Promise.all(writes)
  }, hear)
})

test('a swap is made only of what the row was', () =>
  withHost(async ({ open, call }) => {
    await open(rows)
    expect(await call(1, 'swap', 'one', undefined, rowOf(1))).toBe(true)
    expect(await call(1, 'swap', 'one', { n: 7 }, rowOf(2))).toBe(false)
    expect(await call(1, 'peek', 'one')).toEqual({ n: 1 })
    expect(await call(1, 'swap', 'one', { n: 1 }, rowOf(2))).toBe(true)
    expect(await call(1, 'get', 'one')).toEqual({ n: 2 })
    expect(await call(1, 'peek', 'two')).toBeUndefined()
    expect([await call(1, 'create', 'one', rowOf(3)), await call(1, 'count', {})]).toEqual([false, 1])
    expect([await call(1, 'delete', 'one'), await call(1, 'delete', 'one')]).toEqual([true, false])
  }))

test('a row is found by what the thread says of it, however it was written', () =>
  withHost(async ({ open, call }) => {
    await open({ ...rows, indexes: ['n'] })
    await call(1, 'put', 'one', rowOf(1))
    await call(1, 'create', 'two', rowOf(2))
    await call(1, 'swap', 'three', undefined, rowOf(3))
    for (const equals of [1, 2, 3])
      expect(await call(1, 'list', { index: 'n', equals })).toMatchObject({ items: [{ n: equals }] })
  }))

test.each([[['n']], [[]]])(
  'rows of a former version are brought up by the thread, with indexes %j, and one that it refuses stays as it is',
  (indexes) =>
    withHost(
      async ({ open, call, news, problems }) => {
        await open(rows)
        for (const n of [1, 2]) await call(1, 'put', `row${n}`, rowOf(n))
        await open({ ...rows, version: 2, indexes })
        expect(await call(1, 'get', 'row1')).toEqual({ n: 10 })
        await expect(call(1, 'get', 'row2')).rejects.toMatchObject({ code: 'ROW_UNREADABLE' })
        const index = indexes[0]
        if (index !== undefined)
          expect(await call(1, 'list', { index })).toMatchObject({ items: [{ n: 10 }], total: 1 })
        const old = [1, 2].map((n) => ({ row: { n }, version: 1 }))
        expect(news).toEqual([{ part: 1, older: old }])
        expect(problems[0]).toMatchObject({ code: 'ROW_UNREADABLE', part: 'rows' })
        const again = { ...rows, part: 2, version: 2, indexes }
        await open(again)
        await call(2, 'get', 'row1')
        expect(news).toEqual([
          { part: 1, older: old },
          { part: 2, older: old.slice(1) },
        ])
      },
      (told) =>
        'older' in told &&
        (told.part === 1 ? [{ row: { n: 10 }, values: { n: 10 } }, undefined] : [undefined]),
    ),
)

test('rows that are no objects can be read and written', () =>
  withHost(
    async ({ open, call }) => {
      await open(rows)
      await call(1, 'put', 'one', { row: 'text', values: {} })
      expect(await call(1, 'get', 'one')).toBe('text')
      await open({ ...rows, indexes: ['n'] })
      await expect(call(1, 'put', 'two', { row: 'text', values: {} })).rejects.toMatchObject({
        code: 'ROW_INVALID',
      })
    },
    () => [undefined],
  ))

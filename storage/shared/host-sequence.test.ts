import { expect, test } from 'vitest'
import { withHost } from './host-parts.ts'
import type { Batch, StoreNews } from './messages.ts'

const ledger = { part: 1, kind: 'sequence', path: ['deep'], name: 'ledger' } as const

test('entries are appended where they were made for, or not at all', () =>
  withHost(async ({ open, call }) => {
    await open(ledger)
    expect(await call(1, 'peek')).toEqual({ seq: 1, previous: undefined })
    expect(await call(1, 'append', 1, ['a', 'b'])).toBe(true)
    expect(await call(1, 'append', 2, ['c'])).toBe(false)
    expect(await call(1, 'append', 4, ['c'])).toBe(false)
    expect(await call(1, 'peek')).toEqual({ seq: 3, previous: 'b' })
    expect([await call(1, 'last'), await call(1, 'get', 1), await call(1, 'get', 3)]).toEqual([
      2,
      'a',
      undefined,
    ])
  }))

test('a listing of many entries is read on, batch by batch, or ended', () =>
  withHost(async ({ open, call }) => {
    await open(ledger)
    await call(
      1,
      'append',
      1,
      Array.from({ length: 102 }, (_, n) => n + 1),
    )
    const first = (await call(1, 'scan', 2)) as Batch
    expect([first.items[0], first.isOver]).toEqual([2, false])
    expect(await call(1, 'more', first.cursor)).toMatchObject({ items: [102], isOver: true })
    expect(await call(1, 'scan', 3, 5)).toMatchObject({ items: [3, 4], isOver: true })
    const second = (await call(1, 'scan')) as Batch
    await call(1, 'done', second.cursor)
    expect(await call(1, 'more', second.cursor)).toMatchObject({ items: [], isOver: true })
  }))

test('what reads entries asks the other threads for theirs first, and not its own', () =>
  withHost(async ({ open, call, peers, news, engine }) => {
    await open(ledger)
    const theirs: StoreNews[] = []
    peers.add(async (told) => {
      theirs.push(told)
      await call(1, 'append', theirs.length, [`entry ${theirs.length}`])
    })
    expect(await call(1, 'last')).toBe(1)
    expect(await call(1, 'get', 2)).toBe('entry 2')
    expect(await call(1, 'scan')).toMatchObject({ items: ['entry 1', 'entry 2', 'entry 3'] })
    expect(theirs).toEqual(Array(3).fill({ wanted: 'deep/ledger' }))
    expect(news).toEqual([])
    expect((await engine.contents('deep/')).map(({ path }) => path)).toEqual(['deep/ledger'])
  }))

test('a sequence that is opened again goes on', () =>
  withHost(async ({ open, call }) => {
    await open(ledger)
    await call(1, 'append', 1, ['a'])
    await open(ledger)
    expect(await call(1, 'append', 2, ['b'])).toBe(true)
    expect(await call(1, 'last')).toBe(2)
  }))

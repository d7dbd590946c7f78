import { expect, test } from 'vitest'
import { withBacking } from './backing-parts.ts'
import { Cells } from './cells.ts'
import { LogKeys } from './log-keys.ts'

const keys = new LogKeys('calls')
const cell = (name: string, totals: Readonly<Record<string, number>>) => [
  keys.cell(name),
  JSON.stringify(totals),
]

test('what is added to cells is written once, with what they held', () =>
  withBacking(async ({ backing, write }) => {
    await write([[keys.cell('a'), '{"n":10}']])
    const cells = new Cells(backing, keys)
    const alike = ['a', 'b']
    cells.add(alike, { n: 1 })
    cells.add(alike, { n: 2, m: 5 })
    cells.add(['b'], { n: 4 })
    const changes = cells.takeChanges()
    expect(changes).toEqual([cell('a', { n: 13, m: 5 }), cell('b', { n: 7, m: 5 })])
    await write(changes)
    expect(cells.takeChanges()).toEqual([])
    cells.add(['b'], { n: 1 })
    expect(cells.takeChanges()).toEqual([cell('b', { n: 8, m: 5 })])
  }))

test('a cell that was touched is known until all is forgotten', () =>
  withBacking(async ({ backing, write }) => {
    const cells = new Cells(backing, keys)
    cells.add(['a'], { n: 1 })
    cells.takeChanges()
    await write([[keys.cell('a'), '{"n":100}']])
    cells.add(['a'], { n: 1 })
    expect(cells.takeChanges()).toEqual([cell('a', { n: 2 })])
    cells.reset()
    cells.add(['a'], { n: 1 })
    expect(cells.takeChanges()).toEqual([cell('a', { n: 101 })])
  }))

test('what was added and not taken is forgotten as well', () =>
  withBacking(async ({ backing }) => {
    const cells = new Cells(backing, keys)
    cells.add(['a'], { n: 1 })
    cells.reset()
    expect(cells.takeChanges()).toEqual([])
    cells.add(['a'], { n: 1 })
    expect(cells.takeChanges()).toEqual([cell('a', { n: 1 })])
  }))

test('of many cells those that were touched last are known', () =>
  withBacking(async ({ backing }) => {
    const cells = new Cells(backing, keys)
    const most = 4096
    for (let n = 0; n < most; n++) cells.add([`c${n}`], { n: 1 })
    cells.takeChanges()
    cells.add(['c0'], { n: 1 })
    cells.takeChanges()
    cells.add(['another'], { n: 1 })
    cells.takeChanges()
    // No cell is on the disk, so one that is not known any more begins anew.
    cells.add(['c0', 'c1', 'c2'], { n: 1 })
    expect(cells.takeChanges()).toEqual([cell('c0', { n: 3 }), cell('c1', { n: 1 }), cell('c2', { n: 2 })])
  }))

test('cells of a range are read and deleted, the first one included and the last one not', () =>
  withBacking(async ({ backing, write, database }) => {
    const cells = new Cells(backing, keys)
    const names = ['a', 'b', 'c', 'd']
    await write([...names.map((name) => [keys.cell(name), '{"n":1}'] as const), [keys.meta, '{}']])
    const sum = { n: 1 }
    expect(await cells.read('b', 'd')).toEqual({
      cells: [
        ['b', sum],
        ['c', sum],
      ],
    })
    await write([
      [keys.cell('b'), '{"n":'],
      [keys.cell('c'), '{"n":0.5,"m":1}'],
    ])
    expect(await cells.read('a', 'e')).toEqual({
      cells: [
        ['a', sum],
        ['d', sum],
      ],
      unreadable: 2,
    })
    const deletions = await cells.deletions('b', 'd')
    expect(deletions).toEqual([
      [keys.cell('b'), undefined],
      [keys.cell('c'), undefined],
    ])
    await write(deletions)
    expect(await database.keys().all()).toEqual([keys.cell('a'), keys.cell('d'), keys.meta])
  }))

test('a cell that is no sum counts anew, with the sums that it has', () =>
  withBacking(async ({ backing, write }) => {
    await write([
      [keys.cell('a'), 'no JSON'],
      [keys.cell('b'), '{"n":0.5,"m":1}'],
    ])
    const cells = new Cells(backing, keys)
    cells.add(['a', 'b'], { n: 1 })
    expect(cells.takeChanges()).toEqual([cell('a', { n: 1 }), cell('b', { m: 1, n: 1 })])
  }))

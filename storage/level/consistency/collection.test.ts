import { expect, test } from 'vitest'
import { withBacking } from '../backing-parts.ts'
import { sortableEntry } from '../keys.ts'
import { CollectionKeys, encode, type Indexes, writeRow } from '../row-writer.ts'
import { compareCollection } from './collection.ts'
import { Comparison } from './comparison.ts'

type Thing = { readonly n: number; readonly tags: readonly string[] }

const keys = new CollectionKeys('things')
const indexes: Indexes<Thing> = [
  ['n', ({ n }) => n],
  ['tags', ({ tags }) => tags],
]
const things: readonly Thing[] = [
  { n: 1, tags: ['a', 'b'] },
  { n: 1, tags: [] },
  { n: 2, tags: ['b'] },
]
const note = JSON.stringify({ version: 1, indexes: ['n', 'tags'], failed: 0 })
const sortable = (value: string | number): string => sortableEntry(value)!

/** What is found in a collection with these changes; that it is as before, and nothing is found, when it is put right. */
async function found(
  changes: readonly (readonly [key: string, value: string | undefined])[],
  rows = things,
): Promise<readonly string[]> {
  let all: string[] = []
  await withBacking(async ({ backing, database, write }) => {
    for (const [at, row] of rows.entries()) writeRow(backing, keys, `id${at}`, encode(1, indexes, row))
    await write([[keys.meta, note]])
    const before = await database.iterator().all()
    await write(changes)
    const comparison = new Comparison()
    await compareCollection(database, 'things', comparison)
    all = comparison.found.map(({ part, found, canBeMended }) => {
      expect([part, canBeMended]).toEqual(['things', true])
      return found
    })
    await comparison.write(database)
    const again = new Comparison()
    await compareCollection(database, 'things', again)
    expect(again.found).toEqual([])
    if (!changes.some(([key]) => key === keys.meta || key.startsWith(keys.rows)))
      expect(await database.iterator().all()).toEqual(before)
  })
  return all
}

test('a sound collection, and one without rows, have nothing to be put right', async () => {
  expect(await found([])).toEqual([])
  expect(await found([], [])).toEqual([])
  expect(await found([[keys.meta, undefined]], [])).toEqual([])
})

test('index entries without a row go, with their counts', async () => {
  const stray = (index: string, value: string, id: string): string => keys.entries(index, value) + id
  expect(await found([[stray('n', sortable(7), 'id0'), '']])).toEqual(['1 index entries without a row'])
  expect(
    await found([
      [stray('n', sortable(2), 'gone'), ''],
      [stray('tags', sortable('z'), 'id1'), ''],
      [keys.countOf('tags', sortable('z')), '1'],
    ]),
  ).toEqual(['2 index entries without a row', '1 counts that were not those of the rows'])
})

test('rows that an index lost are in it again', async () => {
  expect(
    await found([
      [`${keys.entries('n', sortable(1))}id0`, undefined],
      [`${keys.entries('tags', sortable('b'))}id2`, undefined],
    ]),
  ).toEqual(['2 rows that an index did not have'])
})

test.each<[string, readonly (readonly [string, string | undefined])[], number]>([
  ['of all rows', [[keys.count, '7']], 1],
  ['of all rows that is gone', [[keys.count, undefined]], 1],
  ['of an index', [[keys.countOf('n'), '0']], 1],
  ['of a value that is gone', [[keys.countOf('tags', sortable('b')), undefined]], 1],
  ['that is no number', [[keys.countOf('n', sortable(2)), 'x']], 1],
  ['of a value that no row has', [[keys.countOf('n', sortable(9)), '1']], 1],
  [
    'of both kinds',
    [
      [keys.count, '7'],
      [keys.countOf('tags'), undefined],
    ],
    2,
  ],
])('a count %s is that of the rows again', async (_, changes, counts) => {
  expect(await found(changes)).toEqual([`${counts} counts that were not those of the rows`])
})

test('counts without any row go', async () => {
  expect(await found([[keys.count, '3']], [])).toEqual(['1 counts that were not those of the rows'])
})

test('a row that cannot be read keeps its entries, and is counted', async () => {
  expect(await found([[keys.row('id0'), 'garbage']])).toEqual([])
  expect(await found([[keys.row('id3'), 'garbage']])).toEqual(['1 counts that were not those of the rows'])
})

test('a note of the version that is gone or damaged is written anew', async () => {
  for (const text of [undefined, 'garbage', '{"version":1}'])
    expect(await found([[keys.meta, text]])).toEqual(['1 missing note of its version'])
  expect(await found([[keys.meta, 'garbage']], [])).toEqual(['1 missing note of its version'])
})

test('what lies beside a collection is left alone', () =>
  withBacking(async ({ database, write }) => {
    await write([
      ['c/things2!n', '7'],
      ['c/thing!n', '7'],
    ])
    const comparison = new Comparison()
    await compareCollection(database, 'things', comparison)
    expect(comparison.found).toEqual([])
  }))

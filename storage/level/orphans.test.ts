import { expect, test, vi } from 'vitest'
import { withBacking } from './backing-parts.ts'
import { LogKeys } from './log-keys.ts'
import { orphansOf } from './orphans.ts'

const format = { chunkRows: 4, blockRows: 8 }
const keys = new LogKeys('plugin/calls')

test.each<[string, number[], number[], number, number[]]>([
  ['no blocks', [], [], 0, []],
  ['all blocks indexed', [0, 1, 2, 3], [0, 1], 16, []],
  ['rows in blocks without an index', [0, 1, 2, 3, 4, 5, 6, 7], [1], 32, [0, 2, 3]],
  ['rows in the second chunk of its block', [1, 5], [], 24, [0, 2]],
  ['blocks without rows', [0, 6], [0], 40, [3]],
  ['rows in the block that is not full', [0, 1, 2], [0], 12, []],
  ['rows only in the block that is not full', [2], [], 12, []],
  ['rows in a block that is full but for one row', [0, 1], [], 7, []],
  ['rows in the last full block', [2], [0], 16, [1]],
])('with %s those that have rows and no index are found', (_, chunks, indexed, next, orphans) =>
  withBacking(async ({ database, write }) => {
    await write(chunks.map((chunk) => [keys.rows(chunk), 'rows']))
    expect(await orphansOf(database, keys, { format, next, indexed: new Set(indexed) })).toEqual(orphans)
  }),
)

test('blocks without an index are passed over with one look at a key for each run of them', () =>
  withBacking(async ({ database, write }) => {
    await write([0, 20, 2000].map((chunk) => [keys.rows(chunk), 'rows']))
    const look = vi.spyOn(database, 'keys')
    const found = await orphansOf(database, keys, { format, next: 8 * 1001, indexed: new Set([1, 500]) })
    expect(found).toEqual([0, 10, 1000])
    expect(look).toHaveBeenCalledTimes(4)
  }))

import { expect, test } from 'vitest'
import { describe } from './describe.ts'
import type { BadBlock } from './table.ts'

const block = (...keys: readonly [string, string] | []): BadBlock => ({
  offset: 0,
  size: 1,
  ...(keys.length > 0 && { keys: keys as [string, string] }),
})

test.each<[string, readonly BadBlock[], string]>([
  ['one part', [block('c/accounts!r!a', 'c/accounts!r!b')], 'rows in these blocks, of collection accounts'],
  ['the first block', [block('', 's/chain!e1')], 'rows in these blocks, of sequence chain'],
  [
    'several parts',
    [block('c/a/b!m', 'l/events!r1')],
    'rows in these blocks, of collection a/b, perhaps parts between, log events',
  ],
  ['the end of one', [block('n/use!x', '~')], 'rows in these blocks, of counters use'],
  [
    'two blocks of one part',
    [block('l/e!r1', 'l/e!r2'), block('l/e!r2', 'l/e!r3')],
    'rows in these blocks, of log e',
  ],
  ['no part', [block('!open', '!version')], 'nothing'],
  ['keys of another kind', [block('', 'x/a!b')], 'nothing'],
  ['a key whose part is deeper in it', [block('', '~c/a!b')], 'nothing'],
  ['no keys', [block()], 'nothing'],
])('bad blocks with %s say what is lost', (_, blocks, lost) => {
  expect(describe({ file: '000005.ldb', kind: 'table', blocks })).toEqual({
    file: '000005.ldb',
    found: `${blocks.length} of its blocks cannot be read`,
    lost,
  })
})

test('a table that is none has lost everything', () => {
  expect(describe({ file: 'a.ldb', kind: 'table', blocks: 'all' })).toEqual({
    file: 'a.ldb',
    found: 'it is not a readable table',
    lost: 'all its content',
  })
})

const gap = (from: number, to: number, isInside = true) => ({ from, to, isInside })

test('gaps of a write-ahead file say where they are, and how much is lost', () => {
  const lostWith = (...gaps: ReturnType<typeof gap>[]) =>
    describe({ file: '1.log', kind: 'write-ahead', gaps })
  expect(lostWith(gap(7, 10))).toEqual({
    file: '1.log',
    found: '3 bytes cannot be read (at 7)',
    lost: expect.stringContaining('one batch or more'),
  })
  expect(lostWith(gap(7, 10), gap(20, 25, false))).toMatchObject({
    found: '8 bytes cannot be read (at 7, 20)',
    lost: expect.stringContaining('2 batches or more'),
  })
  expect(lostWith(gap(7, 10, false)).lost).toContain('last moments')
  const directory = describe({ file: 'MANIFEST-1', kind: 'directory', gaps: [gap(7, 10)] })
  expect(directory.lost).toContain('nothing')
})

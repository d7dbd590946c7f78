import { expect, test } from 'vitest'
import { withBacking } from '../backing-parts.ts'
import { sortableInteger } from '../keys.ts'
import { Comparison } from './comparison.ts'
import { compareSequence } from './sequence.ts'

const last = 's/chain!n'

test.each<[string, number[], string | undefined, string[], string | undefined]>([
  ['none', [], undefined, [], undefined],
  ['a sound one', [1, 2, 3], '3', [], '3'],
  ['one with a gap', [1, 4], '4', ['2 of its entries are missing'], '4'],
  ['one without its beginning', [3], '3', ['2 of its entries are missing'], '3'],
  ['an end that is too low', [1, 2, 3], '2', ['last number that was 2 where the last entry is 3'], '3'],
  ['an end that is gone', [1], undefined, ['last number that was 0 where the last entry is 1'], '1'],
  [
    'an end that is too high',
    [1, 2],
    '5',
    ['last number that was 5 where the last entry is 2; the entries behind it, up to 5, are lost'],
    '2',
  ],
  [
    'no entries any more',
    [],
    '2',
    ['last number that was 2 where the last entry is 0; the entries behind it, up to 2, are lost'],
    undefined,
  ],
  ['an end that is no number', [1], 'x', ['last number that was NaN where the last entry is 1'], '1'],
])('of %s it is found what is wrong, and its end is where its entries end', (_, entries, noted, found, end) =>
  withBacking(async ({ database, write }) => {
    await write([
      ...entries.map((seq) => [`s/chain!e${sortableInteger(seq)}`, '{}'] as const),
      ...(noted === undefined ? [] : [[last, noted] as const]),
      [`s/chain2!e${sortableInteger(9)}`, '{}'],
    ])
    const comparison = new Comparison()
    await compareSequence(database, 'chain', comparison)
    expect(comparison.found.map((one) => one.found.replace(/^1 /, ''))).toEqual(
      found.map((one) => one.replace(/^1 /, '')),
    )
    for (const one of comparison.found)
      expect(one).toMatchObject({ part: 'chain', canBeMended: !one.found.includes('missing') })
    await comparison.write(database)
    expect(await database.get(last)).toBe(end)
  }),
)

import { expect, test, vi } from 'vitest'
import { withBacking } from '../backing-parts.ts'
import { Comparison } from './comparison.ts'

test('what is found is told, and nothing where there is none of it', () => {
  const comparison = new Comparison()
  comparison.note('a', 0, 'things')
  comparison.note('a', 2, 'things')
  comparison.lament('b', 'entries are missing')
  expect(comparison.found).toEqual([
    { part: 'a', found: '2 things', canBeMended: true },
    { part: 'b', found: 'entries are missing', canBeMended: false },
  ])
})

test('changes are written, the last of each key, in batches that are on the disk', () =>
  withBacking(async ({ database, write }) => {
    await write([['gone', 'x']])
    const batch = vi.spyOn(database, 'batch')
    const comparison = new Comparison()
    await comparison.write(database)
    expect(batch).not.toHaveBeenCalled()
    comparison.mend('gone', undefined)
    comparison.mend('k0', 'first')
    for (let n = 0; n < 10_000; n++) comparison.mend(`k${n}`, `${n}`)
    await comparison.write(database)
    const written: unknown[] = batch.mock.calls.map(([operations, options]: unknown[]) => [
      (operations as unknown[]).length,
      options,
    ])
    expect(written).toEqual([
      [10_000, { sync: true }],
      [1, { sync: true }],
    ])
    expect(await database.getMany(['gone', 'k0', 'k9999'])).toEqual([undefined, '0', '9999'])
  }))

import { expect, test } from 'vitest'
import { type Backed, withBacking } from '../backing-parts.ts'
import { BlockIndex, sealBlock } from '../block.ts'
import { encodeLines } from '../chunk.ts'
import { LogKeys } from '../log-keys.ts'
import { Comparison } from './comparison.ts'
import { compareLog } from './log.ts'

const keys = new LogKeys('calls')
const format = { chunkRows: 2, blockRows: 4 }
const noteOf = (next: number): string => JSON.stringify({ ...format, next })

/** A log of ten rows: two blocks with an index, and one that is not full. */
async function withRows(run: (backed: Backed) => Promise<void>): Promise<void> {
  await withBacking(async (backed) => {
    for (let chunk = 0; chunk < 5; chunk++)
      await backed.write([[keys.rows(chunk), encodeLines(['{"n":1}', '{"n":2}'])]])
    for (const block of [0, 1]) {
      const index = new BlockIndex({ fields: { by: () => 'x' }, numbers: { ms: () => 1 } })
      for (let n = 0; n < 4; n++) index.add({ id: `c${n}`, time: n, values: ['x'], numbers: [1] }, false)
      await backed.write(sealBlock(keys, block, index)[1])
    }
    await backed.write([[keys.meta, noteOf(10)]])
    await run(backed)
  })
}

async function compared({ database }: Backed): Promise<readonly string[]> {
  const comparison = new Comparison()
  await compareLog(database, 'calls', format, comparison)
  for (const one of comparison.found) expect(one).toMatchObject({ part: 'calls', canBeMended: true })
  await comparison.write(database)
  return comparison.found.map(({ found }) => found)
}

test('a sound log, and one without rows, have nothing to be put right', async () => {
  await withRows(async (backed) => expect(await compared(backed)).toEqual([]))
  await withBacking(async (backed) => {
    expect(await compared(backed)).toEqual([])
    expect(await backed.database.get(keys.meta)).toBeUndefined()
    await backed.write([[keys.meta, noteOf(0)]])
    expect(await compared(backed)).toEqual([])
  })
})

test.each<[string, string | undefined, readonly string[], number]>([
  ['that is too low', noteOf(7), ['3 rows behind its noted end'], 10],
  ['that is gone', undefined, ['10 rows behind its noted end'], 10],
  [
    'that cannot be read',
    'x',
    ['1 note of its end that could not be read', '10 rows behind its noted end'],
    10,
  ],
  ['that is too high', noteOf(11), [], 11],
])('an end %s is behind the last row', (_, text, found, next) =>
  withRows(async (backed) => {
    await backed.write([[keys.meta, text]])
    expect(await compared(backed)).toEqual(found)
    expect(await backed.database.get(keys.meta)).toBe(noteOf(next))
  }),
)

test('an end that cannot be read, of a log without rows, is at the beginning', () =>
  withBacking(async (backed) => {
    await backed.write([[keys.meta, 'x']])
    expect(await compared(backed)).toEqual(['1 note of its end that could not be read'])
    expect(await backed.database.get(keys.meta)).toBe(noteOf(0))
  }))

test('the rows of a chunk that is not full are counted one by one, by the format of the log', () =>
  withBacking(async (backed) => {
    const larger = { chunkRows: 5, blockRows: 10 }
    await backed.write([
      [keys.rows(1), encodeLines(['1', '2', '3'])],
      [keys.meta, JSON.stringify({ ...larger, next: 1 })],
    ])
    expect(await compared(backed)).toEqual(['7 rows behind its noted end'])
    expect(await backed.database.get(keys.meta)).toBe(JSON.stringify({ ...larger, next: 8 }))
  }))

const belonging = {
  ids: keys.ids(1),
  times: keys.times(1),
  postings: keys.posting(1, 'by'),
  numbers: keys.numbers(1, 'ms'),
}

test.each(Object.entries(belonging))('a block whose %s are gone is indexed again', (_, key) =>
  withRows(async (backed) => {
    await backed.write([[key, undefined]])
    expect(await compared(backed)).toEqual([
      '1 blocks with an incomplete index; their rows are indexed again',
    ])
    expect(await backed.database.has(keys.header(1))).toBe(false)
    expect(await backed.database.has(keys.header(0))).toBe(true)
  }),
)

test.each([undefined, 'x', 'null', '{"block":0}'])('a block whose header is %s is indexed again', (text) =>
  withRows(async (backed) => {
    await backed.write([[keys.header(0), text]])
    expect(await compared(backed)).toEqual([
      '1 blocks with an incomplete index; their rows are indexed again',
    ])
    expect(await backed.database.has(keys.header(0))).toBe(false)
  }),
)

test('a block that was written before there were numbers needs none', () =>
  withRows(async (backed) => {
    const { numbers: _, ...former } = JSON.parse((await backed.database.get(keys.header(0)))!)
    await backed.write([
      [keys.header(0), JSON.stringify(former)],
      [keys.numbers(0, 'ms'), undefined],
    ])
    expect(await compared(backed)).toEqual([])
  }))

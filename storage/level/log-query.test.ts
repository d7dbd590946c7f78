import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { collect } from '../conformance/harness.ts'
import { type Call, callOf, callOptions, LogModel } from '../conformance/log-model.ts'
import type { Engine, Log, LogQuery } from '../index.ts'
import { openLevel } from '../level.ts'

const options = { ...callOptions, flushMs: 60_000 }
const logFormat = { chunkRows: 2, blockRows: 4 }

let folder: string
let engine: Engine
/** More blocks than are looked at together, with rows out of order, deleted rows and a block without any. */
let mixed: Log<Call>
const model = new LogModel()
/** Five blocks with the rows of four milliseconds each, without the row of 9 ms, and an open one with two rows. */
let ordered: Log<Call>

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'log-query-'))
  engine = await openLevel(folder, { logFormat })
  mixed = engine.log('mixed', options)
  for (let n = 0; n < 150; n++) {
    const tags = [`t${n % 70}`, 'all']
    const call = { ...callOf(n), at: n + ((n * 37) % 50), ...(n % 4 && { cached: n % 9 === 0 }), tags }
    mixed.append(call)
    model.append(call, undefined)
  }
  const isGone = ({ id }: Call): boolean => /^call(?:7|9|10|2[0-3]|148)$/.test(id)
  expect(await mixed.erase(isGone)).toBe(model.remove(isGone))
  ordered = engine.log('ordered', options)
  for (let n = 0; n < 22; n++) ordered.append(callOf(n))
  expect(await ordered.erase(({ at }) => at === 9)).toBe(1)
})

afterEach(() => {
  vi.restoreAllMocks()
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

const filter = ({ at }: Call): boolean => at % 3 === 0
const queries: Readonly<Record<string, readonly LogQuery[]>> = {
  'pages of all rows': [
    {},
    { limit: 3 },
    { limit: 5, offset: 138 },
    { limit: 0 },
    { offset: 141, reverse: false },
  ],
  'one field': [{ where: { model: 'gpt' }, limit: 4 }, { where: { tag: 't69' } }, { where: { tag: 'none' } }],
  'any of several values': [
    { where: { tag: ['t1', 't60', 't2', 'none'] } },
    { where: { tag: [] } },
    { where: { tag: ['t3', undefined] } },
    { where: { tag: ['t3', 't3', 'all'], model: ['gpt'] }, offset: 7 },
  ],
  'several fields': [
    { where: { model: 'gpt', status: 500, cached: false } },
    { where: { cached: true, model: ['gpt', 'gpt-mini'] }, limit: 2, reverse: false },
    { where: { model: 'gpt', tag: undefined }, limit: 3 },
  ],
  times: [
    { from: 40 },
    { to: 40, limit: 4, reverse: false },
    { from: 30, to: 61, where: { tag: 'all' } },
    { from: 100, to: 101 },
    { from: 44, to: 44 },
    { from: 500 },
    { from: 33, to: 90, where: { model: 'gpt', status: [500, 200] }, limit: 2, offset: 1 },
  ],
  numbers: [
    { atLeast: { at: 140 } },
    { atLeast: { at: 77.5, code: 201 }, limit: 3 },
    { atLeast: { at: undefined, code: 500 }, where: { model: 'gpt' }, from: 20, to: 120 },
    { atLeast: { code: 0 }, reverse: false, limit: 2 },
    { atLeast: { at: 30 }, where: { tag: ['t4', 't5'] } },
    { atLeast: { at: 1000 } },
  ],
  'rows that a function tests': [
    { filter },
    { filter, where: { model: 'gpt' }, limit: 3, offset: 2 },
    { filter, limit: 2, reverse: false },
    { filter, limit: 0 },
    { filter, from: 40, to: 50, offset: 1 },
  ],
}

test.for(Object.entries(queries))('queries for %s answer what the rows say', async ([, some]) => {
  for (const query of some) await model.checkQuery(mixed, query)
})

test('a field or a number that the log does not have is refused by its name, with those that it has', async () => {
  const message = (of: LogQuery) => mixed.list(of).catch(({ code, message }) => [code, message])
  expect(await message({ where: { colour: 'red' } })).toEqual([
    'INDEX_UNKNOWN',
    'The log has no field "colour". The fields here: model, status, cached, tag.',
  ])
  expect(await message({ atLeast: { price: 1 } })).toEqual([
    'INDEX_UNKNOWN',
    'The log has no number "price". The numbers here: at, code.',
  ])
  const bare = engine.log('bare', { id: options.id, time: options.time })
  await expect(bare.list({ where: { model: 'gpt' } })).rejects.toThrow('The fields here: none.')
  await expect(bare.list({ where: { model: undefined }, atLeast: { at: undefined } })).resolves.toEqual({
    items: [],
    total: 0,
  })
})

describe('of the index is read', () => {
  /** The parts of the index that are read together from now on: a letter for each kind, and the number of the block. */
  const watch = (): string[][] => {
    const reads: string[][] = []
    const { getMany } = Level.prototype
    vi.spyOn(Level.prototype, 'getMany').mockImplementation(function (this: Level, ...given: unknown[]) {
      const found = (given[0] as string[]).flatMap((key) => {
        const [, kind, block] = /!([ptn])([0-9a-f]{12})/.exec(key) ?? []
        return block === undefined ? [] : [kind! + Number.parseInt(block, 16)]
      })
      if (found.length > 0) reads.push(found)
      return Reflect.apply(getMany, this, given)
    } as never)
    return reads
  }
  const all = (kind: string): string[] => [4, 3, 2, 1, 0].map((block) => kind + block)

  test.for<readonly [string, LogQuery, number, readonly string[]]>([
    ['nothing for all rows, except where some are deleted', {}, 21, ['t2']],
    ['what a field needs', { where: { model: 'gpt' } }, 7, all('p')],
    ['what a number needs', { atLeast: { at: 10 } }, 12, all('n')],
    ['nothing of blocks that lie within or beyond the times', { from: 4, to: 8 }, 4, []],
    ['the times of a block that begins before', { from: 5, to: 8 }, 3, ['t1']],
    ['the times of a block that ends at the end', { from: 4, to: 7 }, 3, ['t1']],
    ['the times of blocks at both ends', { from: 3, to: 9 }, 6, ['t2', 't0']],
    ['nothing for times without rows', { from: 22 }, 0, []],
    ['what a field needs of blocks in time', { where: { model: 'gpt' }, from: 5, to: 8 }, 1, ['t1', 'p1']],
    [
      'no times where a field says which rows there are',
      { where: { status: 200 }, from: 8, to: 12 },
      2,
      ['p2'],
    ],
    ['no times where a number says it', { atLeast: { at: 0 }, from: 8, to: 12 }, 3, ['n2']],
  ])('%s', async ([, query, total, expected]) => {
    const reads = watch()
    expect((await ordered.list({ ...query, limit: 0 })).total).toBe(total)
    expect(reads).toEqual(expected.length > 0 ? [expected] : [])
  })

  test('what lies behind the place where a scan begins', async () => {
    const after = (await ordered.placeOf('call8'))!
    const reads = watch()
    const where = { status: 200 }
    const scan = async (reverse: boolean) =>
      (await collect(ordered.scan({ after, where, reverse }))).map(({ at }) => at)
    expect(await scan(true)).toEqual([7, 6, 4, 3, 2, 1])
    expect(await scan(false)).toEqual([11, 12, 13, 14, 16, 17, 18, 19, 21])
    expect(reads).toEqual([
      ['p2', 'p1', 'p0'],
      ['p2', 'p3', 'p4'],
    ])
  })

  test('32 blocks at a time, as far as they are asked for', async () => {
    const reads = watch()
    for await (const _ of mixed.scan({ where: { tag: 'all' }, reverse: false })) break
    expect(reads.map(({ length }) => length)).toEqual([32])
    reads.length = 0
    await mixed.list({ where: { tag: 'all' }, limit: 0 })
    expect(reads.map(({ length }) => length)).toEqual([32, 4])
  })
})

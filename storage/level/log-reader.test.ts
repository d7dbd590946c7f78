import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { collect } from '../conformance/harness.ts'
import type { Engine, Log, LogOptions, LogQuery } from '../index.ts'
import { openLevel } from '../level.ts'
import { largestInlineBody } from './chunk.ts'
import { LogKeys } from './log-keys.ts'

interface Event {
  readonly id: string
  readonly at: number
}

const options: LogOptions<Event> = {
  id: ({ id }) => id,
  time: ({ at }) => at,
  fields: { even: ({ at }) => at % 2 === 0 },
  flushMs: 60_000,
}
const large = 'x'.repeat(largestInlineBody + 1)
const bodies = [undefined, '', 'small', 'x'.repeat(largestInlineBody), large]
const bodyOf = (n: number) => bodies[n % bodies.length]

let folder: string
let engine: Engine
/** 43 rows in ten blocks, an open one, and 22 chunks. */
let log: Log<Event>
const opened = () => openLevel(folder, { logFormat: { chunkRows: 2, blockRows: 4 } })

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'log-reader-'))
  engine = await opened()
  log = engine.log('events', options)
  for (let at = 0; at < 43; at++) log.append({ id: `e${at}`, at }, () => bodyOf(at))
  await log.flush()
})

afterEach(() => {
  vi.restoreAllMocks()
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

const timesOf = (rows: readonly Event[]): number[] => rows.map(({ at }) => at)
const listed = async (query: LogQuery) => timesOf((await log.list(query)).items)
const scanned = async (query: LogQuery) => timesOf(await collect(log.scan(query)))

/** The chunks of rows that are read together from now on, and the keys that are read one by one. */
function watch() {
  const reads = { chunks: [] as number[][], keys: [] as string[] }
  const { get, getMany } = Level.prototype
  vi.spyOn(Level.prototype, 'getMany').mockImplementation(function (this: Level, ...given: unknown[]) {
    const chunks = (given[0] as string[]).flatMap((key) => /!r(\w+)$/.exec(key)?.[1] ?? [])
    if (chunks.length > 0) reads.chunks.push(chunks.map((chunk) => Number.parseInt(chunk, 16)))
    return Reflect.apply(getMany, this, given)
  } as never)
  vi.spyOn(Level.prototype, 'get').mockImplementation(function (this: Level, ...given: unknown[]) {
    reads.keys.push(given[0] as string)
    return Reflect.apply(get, this, given)
  } as never)
  return reads
}

test('a page reads the chunks of its rows, each once and 16 at a time', async () => {
  const reads = watch()
  expect(await listed({ offset: 1, limit: 4 })).toEqual([41, 40, 39, 38])
  expect(reads.chunks).toEqual([[20, 19]])
  reads.chunks.length = 0
  expect(await listed({})).toHaveLength(43)
  expect(reads.chunks.map(({ length }) => length)).toEqual([16, 6])
  expect(new Set(reads.chunks.flat()).size).toBe(22)
  reads.chunks.length = 0
  expect(await listed({ limit: 0 })).toEqual([])
  expect(reads.chunks).toEqual([])
})

test('a scan reads no further than it is asked to', async () => {
  const reads = watch()
  expect(await scanned({ limit: 0 })).toEqual([])
  expect(await scanned({ limit: 3 })).toEqual([42, 41, 40])
  expect(reads.chunks).toEqual([[21, 20]])
  expect(await scanned({ offset: 2, limit: 3, reverse: false })).toEqual([2, 3, 4])
  expect(reads.chunks.slice(1)).toEqual([
    [0, 1],
    [2, 3],
  ])
  expect(await scanned({ offset: 43 })).toEqual([])
})

test.for([true, false])(
  'pages lead to one another, to the last row and no further (reverse: %s)',
  async (reverse) => {
    for (const where of [{}, { even: true }]) {
      const all = await listed({ where, reverse })
      for (const limit of [8, all.length - 1]) {
        const found: number[] = []
        let next: string | undefined
        do {
          const page = await log.list({ where, reverse, limit, ...(next && { after: next }) })
          expect(page.total).toBe(all.length)
          found.push(...timesOf(page.items))
          expect(page.next === undefined).toBe(found.length === all.length)
          next = page.next
        } while (next !== undefined && found.length <= all.length)
        expect(found).toEqual(all)
      }
      expect(await log.list({ where, reverse, limit: all.length })).not.toHaveProperty('next')
    }
    expect(await log.list({ reverse, limit: 0 })).toEqual({ items: [], total: 43 })
  },
)

test('behind the place of any row come those that are older, or newer, in lists and scans, and with an offset', async () => {
  const all = timesOf((await log.list({ reverse: false })).items)
  for (const at of [0, 3, 4, 21, 40, 42]) {
    const after = (await log.placeOf(`e${at}`))!
    const older = all.slice(0, at).toReversed()
    const newer = all.slice(at + 1)
    expect([await listed({ after }), await scanned({ after })]).toEqual([older, older])
    expect(await listed({ after, offset: 2, limit: 3 })).toEqual(older.slice(2, 5))
    const reverse = false
    expect([await listed({ after, reverse }), await scanned({ after, reverse })]).toEqual([newer, newer])
    expect(await scanned({ after, reverse, offset: 1, limit: 2 })).toEqual(newer.slice(1, 3))
  }
  expect(await log.placeOf('nobody')).toBeUndefined()
})

test('what is no place in a log is refused', async () => {
  const place = (text: string) => Buffer.from(text).toString('base64url')
  const invalid = { code: 'QUERY_INVALID', message: 'after is not a cursor of a log.' }
  for (const text of ['', 'a', '-1', '1.5', ' 1', '1 ', '1'.repeat(16)])
    for (const read of [log.list({ after: place(text) }), collect(log.scan({ after: place(text) }))])
      await expect(read).rejects.toMatchObject(invalid)
  expect(await listed({ after: place('9'.repeat(15)), limit: 1 })).toEqual([42])
})

test('a function that tests rows decides on pages and their total', async () => {
  const filter = ({ at }: Event): boolean => at % 5 === 0
  expect(await log.list({ filter })).toEqual({
    items: [40, 35, 30, 25, 20, 15, 10, 5, 0].map((at) => ({ id: `e${at}`, at })),
    total: 9,
  })
  expect(await log.list({ filter, offset: 1, limit: 2 })).toMatchObject({
    items: [{ at: 35 }, { at: 30 }],
    total: 9,
  })
  expect(await scanned({ filter, offset: 7 })).toEqual([5, 0])
  expect(await scanned({ filter, where: { even: true } })).toEqual([40, 30, 20, 10, 0])
})

test('a body is read by itself, and a large one from a place of its own', async () => {
  const keys = new LogKeys('events')
  for (const at of [0, 1, 2, 3, 4, 40, 41, 42]) {
    const reads = watch()
    expect(await log.body(`e${at}`)).toBe(bodyOf(at))
    const expected = [keys.bodies(Math.floor(at / 2)), ...(bodyOf(at) === large ? [keys.largeBody(at)] : [])]
    expect(reads.keys.filter((key) => !/!i\w+$/.test(key))).toEqual(expected)
    vi.restoreAllMocks()
  }
  const reads = watch()
  expect([await log.body('e7x'), await log.get('e7x'), await log.placeOf('e7x')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(reads.chunks).toEqual([])
  expect(reads.keys.filter((key) => !/!i\w+$/.test(key))).toEqual([])
})

test('an id is looked for in blocks whose first and last ids lie around it, from the newest on', async () => {
  const keys = new LogKeys('events')
  for (const [id, blocks] of [
    ['e21', [5]],
    ['e7', [2, 1]],
  ] as const) {
    const reads = watch()
    expect(await log.placeOf(id)).toBeDefined()
    expect(reads.keys).toEqual(blocks.map((block) => keys.ids(block)))
    vi.restoreAllMocks()
  }
})

test('what was lost on disk is missed, and the rest is found', async () => {
  await engine.close()
  const database = new Level<string, string>(folder)
  const keys = new LogKeys('events')
  for (const key of [keys.rows(3), keys.largeBody(9), keys.ids(5)]) await database.del(key)
  await database.close()
  engine = await opened()
  log = engine.log('events', options)
  expect(await log.list({ from: 4, to: 10 })).toEqual({
    items: [9, 8, 5, 4].map((at) => ({ id: `e${at}`, at })),
    total: 6,
    unreadable: 2,
  })
  expect(await scanned({ from: 4, to: 10 })).toEqual([9, 8, 5, 4])
  expect(await Promise.all(['e6', 'e22', 'e9'].map((id) => log.get(id)))).toEqual([
    undefined,
    undefined,
    { id: 'e9', at: 9 },
  ])
  expect(await log.body('e9')).toBeUndefined()
})

test('an id that is empty is that of no row, although rows that are deleted have no other', async () => {
  expect(await log.erase(({ at }) => at === 41)).toBe(1)
  expect(await Promise.all([log.get(''), log.body(''), log.placeOf('')])).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('rows of full blocks are found while no block is open', async () => {
  const full = engine.log('full', options)
  for (let at = 0; at < 4; at++) full.append({ id: `e${at}`, at })
  const found = await Promise.all([0, 1, 2, 3].map((at) => full.get(`e${at}`)))
  expect(found).toEqual([0, 1, 2, 3].map((at) => ({ id: `e${at}`, at })))
})

import { expect, test } from 'vitest'
import { z } from 'zod'
import type { CollectionOptions, OlderRow } from '../index.ts'
import { type Backed, withBacking } from './backing-parts.ts'
import { migrateRows } from './migrations.ts'
import { CollectionKeys, encode, writeRow } from './row-writer.ts'
import { shapeOf } from './shape.ts'
import { decodeRow } from './stored-row.ts'

const Thing = z.object({ n: z.number(), name: z.string() })
type Thing = z.infer<typeof Thing>
type Options = CollectionOptions<Thing>

const keys = new CollectionKeys('things')
const options: Options = { schema: Thing, indexes: { n: ({ n }) => n } }
const newer: Options = {
  schema: Thing,
  version: 2,
  indexes: { n: ({ n }) => n, name: ({ name }) => name },
  migrate: (row) => ({ ...(row as Thing), name: `${(row as Thing).name}!` }),
}

const migrate = ({ backing }: Backed, given: Options) => migrateRows(backing, keys, 'things', shapeOf(given))

/** A collection that has rows of the first version. */
async function withRows(count: number, run: (backed: Backed) => Promise<void>): Promise<void> {
  await withBacking(async (backed) => {
    await migrate(backed, options)
    for (let n = 0; n < count; n++)
      writeRow(backed.backing, keys, `id${n}`, encode(1, shapeOf(options).indexes, { n, name: `thing${n}` }))
    await backed.backing.writer.commit(false)
    await run(backed)
  })
}

const rowsIn = async ({ database }: Backed): Promise<unknown[]> => {
  const texts = await database.values({ gte: keys.rows, lt: `${keys.rows}~` }).all()
  return texts.map((text) => {
    const { version, json } = decodeRow(text)!
    return [version, JSON.parse(json)]
  })
}

const noteIn = async ({ database }: Backed): Promise<unknown> => JSON.parse((await database.get(keys.meta))!)

test('a new collection notes its shape, and prepares nothing', () =>
  withBacking(async (backed) => {
    await migrate(backed, { ...options, prepare: fail })
    expect(await noteIn(backed)).toEqual({ version: 1, indexes: ['n'], failed: 0 })
    expect(backed.problems).toEqual([])
  }))

function fail(): never {
  throw new Error('there is nothing to prepare')
}

test('rows are brought to a newer version, with its indexes and counts, and the shape is noted', () =>
  withRows(3, async (backed) => {
    await migrate(backed, newer)
    expect(await rowsIn(backed)).toEqual([0, 1, 2].map((n) => [2, { n, name: `thing${n}!` }]))
    expect(await backed.database.get(keys.countOf('name'))).toBe('3')
    expect(await noteIn(backed)).toEqual({ version: 2, indexes: ['n', 'name'], failed: 0 })
    expect(backed.problems).toEqual([])
  }))

test('rows of an older program are refused, and one of the same version with other indexes gets those', () =>
  withRows(1, async (backed) => {
    await migrate(backed, newer)
    await expect(migrate(backed, options)).rejects.toMatchObject({
      code: 'VERSION_AHEAD',
      message: expect.stringMatching(/things has rows of version 2.*up to version 1/),
    })
    const unmigrated: Options = { ...newer, migrate: fail, indexes: { name: ({ name }) => name } }
    await migrate(backed, unmigrated)
    expect(await noteIn(backed)).toMatchObject({ indexes: ['name'] })
    expect(await backed.database.get(keys.countOf('n'))).toBeUndefined()
  }))

test('a collection that has the shape already is left alone, whatever the order of its indexes', () =>
  withRows(2, async (backed) => {
    await migrate(backed, newer)
    const written: unknown[] = []
    backed.database.on('write', (operations) => written.push(operations))
    const reordered = { name: newer.indexes!.name!, n: newer.indexes!.n! }
    for (const indexes of [newer.indexes!, reordered])
      await migrate(backed, { ...newer, indexes, prepare: fail })
    expect(written).toEqual([])
  }))

test('rows are prepared and written some at a time, those that need it', () =>
  withRows(401, async (backed) => {
    const prepared: (readonly OlderRow[])[] = []
    const written: number[] = []
    // Its entries stand in the order in which another program names its indexes.
    const indexes = shapeOf(newer).indexes.toReversed()
    await backed.write([[keys.row('id7'), encode(2, indexes, { n: 7, name: 'x' }).text]])
    backed.database.on('write', (operations: unknown[]) => written.push(operations.length))
    await migrate(backed, { ...newer, prepare: async (rows) => void prepared.push(rows) })
    expect(prepared.map(({ length }) => length)).toEqual([200, 200])
    expect(prepared[0]![0]).toEqual({ row: { n: 0, name: 'thing0' }, version: 1 })
    expect(written).toHaveLength(3)
    expect((await rowsIn(backed)).filter((row) => (row as unknown[])[0] === 2)).toHaveLength(401)
  }))

test('rows that cannot be brought up are counted, reported, and tried again at the next start', () =>
  withRows(5, async (backed) => {
    const { problems, database, write } = backed
    const garbage = 'garbage'
    await write([
      [keys.row('id1'), garbage],
      [keys.row('id2'), '[1,{"n":["n"]}]\n{"n":'],
    ])
    const refusing: Options = {
      ...newer,
      migrate: (row) => ((row as Thing).n === 3 ? fail() : (row as Thing).n === 4 ? { n: 'no' } : row),
    }
    const prepared: OlderRow[] = []
    await migrate(backed, { ...refusing, prepare: async (rows) => void prepared.push(...rows) })
    expect(prepared.map(({ row }) => (row as Thing).n)).toEqual([0, 3, 4])
    expect(await noteIn(backed)).toMatchObject({ failed: 4 })
    expect(problems).toMatchObject([
      { code: 'ROW_UNREADABLE', part: 'things', message: expect.stringContaining('4 rows could not') },
    ])
    // The row without its first line has one, with the entries that its index has.
    const mended = await database.get(keys.row('id1'))
    expect([decodeRow(mended!)?.version, mended!.endsWith(garbage)]).toEqual([0, true])
    await migrate(backed, newer)
    expect(await noteIn(backed)).toMatchObject({ failed: 2 })
    expect(problems).toHaveLength(2)
  }))

test('a row that was written while older ones were prepared stays as it was written', () =>
  withRows(2, async (backed) => {
    const later = encode(2, shapeOf(newer).indexes, { n: 1, name: 'later' })
    const prepare = async () => writeRow(backed.backing, keys, 'id1', later)
    await migrate(backed, { ...newer, prepare })
    expect(await rowsIn(backed)).toEqual([
      [2, { n: 0, name: 'thing0!' }],
      [2, { n: 1, name: 'later' }],
    ])
    expect(await noteIn(backed)).toMatchObject({ failed: 1 })
  }))

test('a row that is deleted while others are brought up stays deleted', () =>
  withRows(201, async (backed) => {
    const { backing } = backed
    let batches = 0
    const prepare = async () => {
      batches += 1
      if (batches === 1) for (let n = 0; n < 201; n++) writeRow(backing, keys, `id${n}`, undefined)
    }
    await migrate(backed, { ...newer, prepare })
    expect(await rowsIn(backed)).toEqual([])
    expect(await backed.database.get(keys.count)).toBeUndefined()
  }))

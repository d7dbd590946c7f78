import { expect, test } from 'vitest'
import { z } from 'zod'
import { withEngine } from '../conformance/harness.ts'
import type { Collection, ListOptions } from '../index.ts'
import { openLevel } from '../level.ts'

type Thing = { readonly n: number; readonly name: string }

const schema = z.object({ n: z.number(), name: z.string() })
const names = ['b', 'a', 'd', 'c']

/** Four things, of which the first two and the last two have one number. */
async function withThings(run: (things: Collection<Thing>) => Promise<void>): Promise<void> {
  await withEngine(openLevel, async ({ engine }) => {
    const things = engine.collection('things', {
      schema,
      indexes: { n: ({ n }) => n, name: ({ name }) => name, both: ({ n, name }) => [[n, name]] },
    })
    await Promise.all(names.map((name, at) => things.put(`id${at}`, { n: at < 2 ? 1 : 2, name })))
    await run(things)
  })
}

test.each<[ListOptions, string]>([
  [{ index: 'name', from: 'b' }, 'bcd'],
  [{ index: 'name', to: 'c' }, 'ab'],
  [{ index: 'name', from: 'b', to: 'd' }, 'bc'],
  [{ index: 'name', to: 'd', reverse: true }, 'cba'],
  [{ index: 'n', from: 2 }, 'dc'],
  [{ index: 'n', to: 2 }, 'ba'],
  [{ index: 'n', from: -1, to: 2 }, 'ba'],
  [{ index: 'both', equals: 1 }, 'ab'],
  [{ index: 'both', equals: 1, from: 'b' }, 'b'],
  [{ index: 'both', equals: 2, to: 'd' }, 'c'],
  [{ index: 'both', equals: [2, 'd'] }, 'd'],
  [{ index: 'name', from: 7 }, ''],
  [{ from: 'id2' }, 'dc'],
  [{ to: 'id2' }, 'ba'],
  [{ from: 'id1', to: 'id3', offset: 1 }, 'd'],
])('a listing %j has its rows, counted', (options, found) =>
  withThings(async (things) => {
    const { items, total } = await things.list(options)
    expect(items.map(({ name }) => name).join('')).toBe(found)
    expect(total).toBe(found.length + (options.offset ?? 0))
    expect(await things.count(options)).toBe(total)
  }),
)

// Rows of an index are read in pages of 256, the last of which is read in another way when it has 16 rows or fewer.
test.each([16, 17, 256 + 16, 256 + 17])(
  'a listing of %d rows has those that were there when it began',
  (count) =>
    withEngine(openLevel, async ({ engine }) => {
      const things = engine.collection('things', { schema, indexes: { n: ({ n }) => n } })
      const made = (at: number): Thing => ({ n: count - at, name: `thing ${at}` })
      const each = Array.from({ length: count }, (_, at) => at)
      await Promise.all(each.map((at) => things.put(`id${at}`, made(at))))
      const expected = each.map(made).reverse()
      expect(await things.list({ index: 'n' })).toEqual({ items: expected, total: count })
      const scanned: Thing[] = []
      for await (const [, row] of things.scan({ index: 'n' })) {
        if (scanned.length === 0)
          await Promise.all(each.map((at) => things.put(`id${at}`, { n: at, name: 'later' })))
        scanned.push(row)
      }
      expect(scanned).toEqual(expected)
    }),
)

test.each<[ListOptions, string]>([
  [{ offset: -1 }, 'negative'],
  [{ offset: Number.NaN }, 'negative'],
  [{ limit: -1 }, 'negative'],
  [{ equals: 'b' }, 'needs the index'],
  [{ from: 7 }, 'An id is a text'],
  [{ to: true }, 'An id is a text'],
  [{ index: 'n', equals: Number.NaN }, 'NaN'],
  [{ index: 'n', from: Number.NaN }, 'NaN'],
  [{ index: 'n', to: Number.NaN }, 'NaN'],
  [{ index: 'both', equals: [1, Number.NaN] }, 'NaN'],
  [{ index: 'name', from: 'a', to: 7 }, 'one kind'],
  [{ after: 'nonsense' }, 'not a cursor'],
  [{ after: Buffer.from('!').toString('base64url') }, 'not a cursor'],
  [{ index: 'n', after: Buffer.from('!id1').toString('base64url') }, 'not a cursor'],
  [{ from: 'id2', after: Buffer.from('!id1').toString('base64url') }, 'not a cursor'],
  [{ to: 'id2', after: Buffer.from('!id3').toString('base64url') }, 'not a cursor'],
])('a listing %j cannot be, and is told why', (options, why) =>
  withThings((things) =>
    expect(things.list(options)).rejects.toMatchObject({
      code: 'QUERY_INVALID',
      message: expect.stringContaining(why),
    }),
  ),
)

test('an index that is not there is told with those that are', () =>
  withEngine(openLevel, async ({ engine }) => {
    const plain = engine.collection('plain', { schema })
    await expect(plain.list({ index: 'n' })).rejects.toMatchObject({
      code: 'INDEX_UNKNOWN',
      message: expect.stringContaining('none.'),
    })
  }))

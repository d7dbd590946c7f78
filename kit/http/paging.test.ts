import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Collection, ListOptions } from '../../storage/index.ts'
import { runs } from '../../test/suite/runs.ts'
import { mergedPage, pageOf, storedPage } from './paging.ts'

const idOf = (text: string): string => text

/** What all pages hold, with changes of the list in between. */
function walk(list: string[], limit: number, changes: ((list: string[]) => string[])[]): string[] {
  const found: string[] = []
  let cursor: string | undefined
  let now = list
  do {
    const page = pageOf(now, { limit, offset: 0, cursor }, idOf)
    found.push(...page.items)
    expect(page.total).toBe(now.length)
    cursor = page.next
    now = changes.shift()?.(now) ?? now
  } while (cursor !== undefined)
  return found
}

const stays = Array.from({ length: 12 }, (_, n) => `stays ${n}`)
const aChange = fc.record({ at: fc.nat(30), goes: fc.array(fc.nat(30), { maxLength: 5 }), comes: fc.nat(4) })

test('what stays is on the pages once, in order, whatever is added and deleted between them', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.nat(12), { maxLength: 12 }),
      fc.array(aChange, { maxLength: 20 }),
      (limit, places, changes) => {
        const list = [...stays]
        for (const [n, place] of places.entries()) list.splice(place, 0, `goes ${n}`)
        let count = 0
        const found = walk(
          list,
          limit,
          changes.map(({ at, goes, comes }) => (now: string[]) => {
            const gone = new Set(goes.map((place) => now[place]).filter((item) => item?.startsWith('goes')))
            const left = now.filter((item) => !gone.has(item))
            const added = Array.from({ length: comes }, () => `goes too ${count++}`)
            return left.toSpliced(at, 0, ...added)
          }),
        )
        expect(found.filter((item) => item.startsWith('stays'))).toEqual(stays)
      },
    ),
    runs(300),
  )
})

test('items that look the same are told apart', () => {
  expect(walk(['a', 'a', 'b', 'a'], 1, [])).toEqual(['a', 'a', 'b', 'a'])
  const grows = (now: string[]) => ['a', ...now]
  expect(walk(['a', 'a', 'a'], 1, [grows, grows])).toEqual(['a', 'a', 'a'])
})

test('a page begins after its offset, from the beginning or from the cursor', () => {
  const list = ['a', 'b', 'c', 'd', 'e', 'f']
  const { items, next } = pageOf(list, { limit: 2, offset: 1 }, idOf)
  expect(items).toEqual(['b', 'c'])
  expect(pageOf(list, { limit: 2, offset: 1, cursor: next }, idOf).items).toEqual(['e', 'f'])
  expect(pageOf(list, { limit: 2, offset: 9 }, idOf)).toEqual({ items: [], total: 6 })
})

test.each(['', 'x', '1.', '1.short', '!.aaaaaaaa', '1.aaaaaaaab'])('%j is no cursor', (cursor) => {
  const refused = expect.objectContaining({ status: 400, message: expect.stringContaining('cursor') })
  expect(() => pageOf(['a'], { limit: 1, offset: 0, cursor }, idOf)).toThrow(refused)
})

test('a cursor that the store does not know is refused, and what else goes wrong is not its fault', async () => {
  const wrong = Object.assign(new Error('no place'), { code: 'QUERY_INVALID' })
  const query = { limit: 1, offset: 0 }
  await expect(storedPage({ ...query, cursor: 'x' }, () => Promise.reject(wrong))).rejects.toMatchObject({
    status: 400,
  })
  await expect(storedPage(query, () => Promise.reject(wrong))).rejects.toBe(wrong)
  const broken = new Error('broken')
  await expect(storedPage({ ...query, cursor: 'x' }, () => Promise.reject(broken))).rejects.toBe(broken)
})

interface Timed {
  readonly id: string
  readonly time: string
  readonly of: string
}

/** Rows as a collection has them in an index of whose they are and of their times. */
function indexed(all: readonly Timed[]): Pick<Collection<Timed>, 'scan' | 'count'> {
  const before = (a: Timed, b: Timed) => a.time > b.time || (a.time === b.time && a.id > b.id)
  const within = ({ equals, to }: ListOptions) =>
    all
      .filter((row) => row.of === equals && (to === undefined || row.time < String(to)))
      .toSorted((a, b) => (before(a, b) ? -1 : 1))
  return {
    async *scan(options = {}) {
      for (const row of within(options)) yield [row.id, row]
    },
    count: async (options = {}) => within(options).length,
  }
}

test('the pages of several ranges have each row once, the newest first, also of one time', async () => {
  const rows = fc.array(
    fc.record({ time: fc.constantFrom('a', 'b', 'c'), of: fc.constantFrom('x', 'y', 'z') }),
    {
      maxLength: 20,
    },
  )
  const property = fc.asyncProperty(rows, fc.integer({ min: 1, max: 6 }), async (given, limit) => {
    const all = given.map((row, n) => ({ ...row, id: `id${String(n).padStart(2, '0')}` }))
    const wanted = all
      .filter(({ of }) => of !== 'z')
      .toSorted((a, b) => (a.time + a.id > b.time + b.id ? -1 : 1))
    const found: Timed[] = []
    let after: string | undefined
    do {
      const ranges = [{ equals: 'x' }, { equals: 'y' }]
      const options = { limit, ...(after !== undefined && { after }) }
      const page = await mergedPage(indexed(all), ranges, ({ time }) => time, options)
      expect([page.total, page.unreadable]).toEqual([wanted.length, undefined])
      found.push(...page.items)
      after = page.next
    } while (after !== undefined)
    expect(found).toEqual(wanted)
  })
  await fc.assert(property, { numRuns: 100 })
})

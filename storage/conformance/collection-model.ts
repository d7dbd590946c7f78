import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { z } from 'zod'
import type { Collection, CollectionOptions, IndexAnswer, IndexValue, ListOptions } from '../index.ts'
import { collect, compareText } from './harness.ts'

export const Item = z.object({
  label: z.string(),
  size: z.number().optional(),
  on: z.boolean().optional(),
  tags: z.array(z.string()).default([]),
})

export type Item = z.infer<typeof Item>

/** Rows to count with. */
export const Counter = z.object({ n: z.number() })

export const itemOptions = {
  schema: Item,
  indexes: {
    label: (item) => item.label,
    size: (item) => item.size,
    tag: (item) => item.tags,
    any: (item) => [item.label, item.size, item.on],
    pair: (item) => [[item.label, item.size]],
    triple: (item) => item.tags.map((tag) => [tag, item.on, item.label]),
  },
} satisfies CollectionOptions<Item>

type IndexName = keyof typeof itemOptions.indexes
type Value = Exclude<IndexValue, undefined>
type Entry = readonly [values: readonly Value[], id: string]
/** Which rows, whatever the page. */
type Which = Pick<ListOptions, 'equals' | 'from' | 'to'> & { readonly index?: IndexName }

const whole: readonly ListOptions[] = [{}]
const pagings: readonly ListOptions[] = [...whole, { limit: 2 }, { offset: 1, limit: 2, reverse: true }]

const rank = { boolean: 0, number: 1, string: 2 }

function compareEntries([a, idA]: Entry, [b, idB]: Entry): number {
  for (const [at, value] of a.entries()) {
    const order = compareValues(value, b[at]!)
    if (order !== 0) return order
  }
  return compareText(idA, idB)
}

function compareValues(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (typeof a === typeof b) return Number(a) - Number(b)
  return rank[typeof a as keyof typeof rank] - rank[typeof b as keyof typeof rank]
}

/** What a collection should hold, kept in the simplest way there is. */
export class CollectionModel {
  readonly rows = new Map<string, Item>()

  ids({ index, equals, from, to }: Which): string[] {
    const entries = (index === undefined ? this.#rowEntries() : this.#indexEntries(index)).sort(
      compareEntries,
    )
    const first = equals === undefined ? [] : [equals].flat()
    const isIn = ([values]: Entry) => {
      if (!first.every((value, at) => values[at] === value)) return false
      const value = values[first.length]
      return (
        [from, to].every((bound) => bound === undefined || typeof bound === typeof value) &&
        (from === undefined || compareValues(value!, from) >= 0) &&
        (to === undefined || compareValues(value!, to) < 0)
      )
    }
    return entries.filter(isIn).map(([, id]) => id)
  }

  #rowEntries(): Entry[] {
    return Array.from(this.rows.keys(), (id) => [[id], id])
  }

  #indexEntries(index: IndexName): Entry[] {
    const entries = new Map<string, Entry>()
    for (const [id, row] of this.rows) {
      const given: IndexAnswer = itemOptions.indexes[index](row)
      for (const one of typeof given === 'object' ? given : [given]) {
        const values = [one].flat() as readonly IndexValue[]
        if (values.every((value) => value !== undefined))
          entries.set(JSON.stringify([values, id]), [values as readonly Value[], id])
      }
    }
    return [...entries.values()]
  }

  /** Every listing, count and row of the collection is what the model says, and so are the pages of the listings. */
  check(collection: Collection<Item>): Promise<void> {
    return this.#check(collection, pagings)
  }

  /** The same without the pages: how listings are cut does not depend on what was just written, and takes most of a check. */
  checkWhole(collection: Collection<Item>): Promise<void> {
    return this.#check(collection, whole)
  }

  /** Reads all at once: one by one they only wait. */
  async #check(collection: Collection<Item>, ways: readonly ListOptions[]): Promise<void> {
    const different = new Map(this.#listings().map((which) => [JSON.stringify(which), which]))
    await Promise.all([
      ...Array.from(different.values(), (which) => this.#checkListing(collection, which, ways)),
      ...Array.from(this.rows, async ([id, row]) => expect(await collection.get(id)).toEqual(row)),
    ])
  }

  #listings(): Which[] {
    const [someId = 'a'] = this.rows.keys()
    const listings: Which[] = [{}, { from: someId }, { to: someId }, { from: 'A', to: 'ab' }]
    for (const index of Object.keys(itemOptions.indexes) as IndexName[]) {
      listings.push({ index })
      const entries = this.#indexEntries(index).map(([values]) => values)
      for (const values of entries) listings.push({ index, equals: values })
      for (const [value] of entries.slice(0, 2)) {
        listings.push({ index, equals: value! }, { index, from: value! }, { index, to: value! })
      }
      const [low, high] = [entries[0], entries.find((values) => values.length > 1)]
      if (high)
        listings.push({ index, equals: high[0]!, from: high[1]! }, { index, equals: high[0]!, to: high[1]! })
      if (low && typeof low[0] === 'string') listings.push({ index, from: low[0], to: '\uFFFF' })
    }
    return listings
  }

  async #checkListing(
    collection: Collection<Item>,
    options: Which,
    ways: readonly ListOptions[],
  ): Promise<void> {
    const ids = this.ids(options)
    const count = collection.count(options)
    await Promise.all(
      ways.map(async (paging) => {
        const wanted = page(ids, paging)
        const [{ items, total, next }, scanned] = await Promise.all([
          collection.list({ ...options, ...paging }),
          collect(collection.scan({ ...options, ...paging })),
        ])
        expect(total).toBe(ids.length)
        expect(items).toEqual(wanted.map((id) => this.rows.get(id)))
        const behind = ids.length - (paging.offset ?? 0) - wanted.length
        expect(next !== undefined).toBe(behind > 0)
        expect(
          isDeepStrictEqual(
            scanned.map(([id]) => id),
            wanted,
          ),
        ).toBe(true)
        if (next === undefined) return
        const rest = await collect(
          collection.scan({ ...options, reverse: paging.reverse ?? false, after: next }),
        )
        expect(rest.map(([id]) => id)).toEqual(
          page(ids, { ...paging, offset: (paging.offset ?? 0) + 2, limit: behind }),
        )
      }),
    )
    expect(await count).toBe(ids.length)
  }
}

function page(
  ids: readonly string[],
  { offset = 0, limit = ids.length, reverse = false }: ListOptions,
): string[] {
  return (reverse ? ids.toReversed() : ids).slice(offset, offset + limit)
}

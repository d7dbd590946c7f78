import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { z } from 'zod'
import type { Collection, CollectionOptions, IndexValue, ListOptions } from '../index.ts'
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
  },
} satisfies CollectionOptions<Item>

type IndexName = keyof typeof itemOptions.indexes
type Entry = readonly [value: Exclude<IndexValue, undefined>, id: string]

const rank = { boolean: 0, number: 1, string: 2 }

function compareValues(a: Entry[0], b: Entry[0]): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (typeof a === typeof b) return Number(a) - Number(b)
  return rank[typeof a as keyof typeof rank] - rank[typeof b as keyof typeof rank]
}

/** What a collection should hold, kept in the simplest way there is. */
export class CollectionModel {
  readonly rows = new Map<string, Item>()

  ids(index?: IndexName, equals?: Entry[0]): string[] {
    if (index === undefined) return [...this.rows.keys()].sort(compareText)
    const entries: Entry[] = []
    for (const [id, row] of this.rows) {
      const given: IndexValue | readonly IndexValue[] = itemOptions.indexes[index](row)
      const values = new Set(typeof given === 'object' ? given : [given])
      for (const value of values) if (value !== undefined) entries.push([value, id])
    }
    entries.sort((a, b) => compareValues(a[0], b[0]) || compareText(a[1], b[1]))
    return entries.filter(([value]) => equals === undefined || value === equals).map(([, id]) => id)
  }

  /** Every listing, count and row of the collection is what the model says. */
  async check(collection: Collection<Item>): Promise<void> {
    await this.#checkListing(collection, {})
    for (const index of Object.keys(itemOptions.indexes) as IndexName[]) {
      await this.#checkListing(collection, { index })
      const values = new Set([...this.rows.values()].flatMap((row) => itemOptions.indexes[index](row)))
      for (const equals of values) {
        if (equals !== undefined) await this.#checkListing(collection, { index, equals })
      }
    }
    for (const [id, row] of this.rows) expect(await collection.get(id)).toEqual(row)
  }

  async #checkListing(
    collection: Collection<Item>,
    options: { index?: IndexName; equals?: Entry[0] },
  ): Promise<void> {
    const ids = this.ids(options.index, options.equals)
    expect(await collection.count(options)).toBe(ids.length)
    for (const paging of [{}, { limit: 2 }, { offset: 1, limit: 2, reverse: true }] satisfies ListOptions[]) {
      const wanted = page(ids, paging)
      const { items, total } = await collection.list({ ...options, ...paging })
      expect(total).toBe(ids.length)
      expect(items).toEqual(wanted.map((id) => this.rows.get(id)))
      const scanned = await collect(collection.scan({ ...options, ...paging }))
      expect(
        isDeepStrictEqual(
          scanned.map(([id]) => id),
          wanted,
        ),
      ).toBe(true)
    }
  }
}

function page(
  ids: readonly string[],
  { offset = 0, limit = ids.length, reverse = false }: ListOptions,
): string[] {
  return (reverse ? ids.toReversed() : ids).slice(offset, offset + limit)
}

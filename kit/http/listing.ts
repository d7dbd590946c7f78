import { z } from 'zod'
import type { PageQuery } from './paging.ts'

/** The query of every listing. */
export const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(50).meta({ description: 'How many at the most.' }),
  offset: z.coerce.number().int().min(0).default(0).meta({ description: 'How many to skip.' }),
  cursor: z.string().min(1).max(8192).optional().meta({
    description:
      'The next_cursor of the page before, with the same filters: rows that come or go meanwhile make no other come twice or never.',
  }),
})

/** A time in a query, in milliseconds since the epoch once it is read. */
export const timeFilter = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()])
  .transform((text) => Date.parse(text))
  .meta({ description: 'A time or a day in ISO 8601.' })

/** The same of every listing, and made once. */
const pageFields = {
  total: z.int(),
  has_more: z.boolean(),
  limit: z.int(),
  offset: z.int(),
  next_cursor: z.string().optional().meta({
    description: 'For the cursor of the next page; absent on the last one.',
  }),
  unreadable: z.int().optional().meta({
    description: 'Rows of this page that could not be read and were left out; absent when there were none.',
  }),
}

/** The shape of a listing: the items under their plural name, and how many there are in all. */
export const listOf = <N extends string, T extends z.ZodType>(plural: N, item: T) =>
  z.object({
    [plural]: z.array(item),
    ...pageFields,
  } as { [K in N]: z.ZodArray<T> } & {
    total: z.ZodInt
    has_more: z.ZodBoolean
    limit: z.ZodInt
    offset: z.ZodInt
    next_cursor: z.ZodOptional<z.ZodString>
    unreadable: z.ZodOptional<z.ZodInt>
  })

/** A page of a listing, as the store has it or as it was made. */
interface Rows<T> {
  readonly items: readonly T[]
  readonly total: number
  /** Where the next page begins; absent on the last one. */
  readonly next?: string
  /** Rows of the page that are not among the items, as they could not be read. */
  readonly unreadable?: number
}

/** A page as a listing. */
export function listed<N extends string, T>(
  plural: N,
  { items, total, next, unreadable = 0 }: Rows<T>,
  { limit, offset, cursor }: PageQuery,
) {
  return {
    [plural]: items,
    total,
    has_more: next !== undefined || (cursor === undefined && offset + items.length + unreadable < total),
    limit,
    offset,
    ...(next !== undefined && { next_cursor: next }),
    ...(unreadable > 0 && { unreadable }),
  } as { [K in N]: T[] } & {
    total: number
    has_more: boolean
    limit: number
    offset: number
    next_cursor?: string
    unreadable?: number
  }
}

/** The page with what is shown of each row; a row of which nothing can be made is left out and counted. */
export function shown<R, T>(
  { items: rows, unreadable = 0, ...page }: Rows<R>,
  itemOf: (row: R) => T,
): Rows<T> {
  const items: T[] = []
  for (const row of rows) {
    try {
      items.push(itemOf(row))
    } catch {}
  }
  return { ...page, items, unreadable: unreadable + rows.length - items.length }
}

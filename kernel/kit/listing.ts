import { z } from 'zod'

/** What every listing accepts. */
export const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(50).meta({ description: 'How many at the most.' }),
  offset: z.coerce.number().int().min(0).default(0).meta({ description: 'How many to skip.' }),
})

/** The shape of a listing: the items under their plural name, and how many there are in all. */
export const listOf = <N extends string, T extends z.ZodType>(plural: N, item: T) =>
  z.object({
    [plural]: z.array(item),
    total: z.int(),
    has_more: z.boolean(),
    limit: z.int(),
    offset: z.int(),
    unreadable: z.int().optional().meta({
      description: 'Rows of this page that could not be read and were left out; absent when there were none.',
    }),
  } as { [K in N]: z.ZodArray<T> } & {
    total: z.ZodInt
    has_more: z.ZodBoolean
    limit: z.ZodInt
    offset: z.ZodInt
    unreadable: z.ZodOptional<z.ZodInt>
  })

/** A page of a listing, as the store has it or as it was made. */
interface Rows<T> {
  readonly items: readonly T[]
  readonly total: number
  /** Rows of the page that are not among the items, as they could not be read. */
  readonly unreadable?: number
}

/** A page as a listing. */
export function listed<N extends string, T>(
  plural: N,
  { items, total, unreadable = 0 }: Rows<T>,
  { limit, offset }: { limit: number; offset: number },
) {
  return {
    [plural]: items,
    total,
    has_more: offset + items.length + unreadable < total,
    limit,
    offset,
    ...(unreadable > 0 && { unreadable }),
  } as { [K in N]: T[] } & {
    total: number
    has_more: boolean
    limit: number
    offset: number
    unreadable?: number
  }
}

/** The page with what is shown of each row; a row of which nothing can be made is left out and counted. */
export function shown<R, T>({ items: rows, total, unreadable = 0 }: Rows<R>, itemOf: (row: R) => T): Rows<T> {
  const items: T[] = []
  for (const row of rows) {
    try {
      items.push(itemOf(row))
    } catch {}
  }
  return { items, total, unreadable: unreadable + rows.length - items.length }
}

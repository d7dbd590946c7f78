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
  } as { [K in N]: z.ZodArray<T> } & {
    total: z.ZodInt
    has_more: z.ZodBoolean
    limit: z.ZodInt
    offset: z.ZodInt
  })

/** A page as a listing. */
export function listed<N extends string, T>(
  plural: N,
  page: { readonly items: T[]; readonly total: number },
  { limit, offset }: { limit: number; offset: number },
) {
  return {
    [plural]: page.items,
    total: page.total,
    has_more: offset + page.items.length < page.total,
    limit,
    offset,
  } as { [K in N]: T[] } & { total: number; has_more: boolean; limit: number; offset: number }
}

import { z } from 'zod'
import { StoreError } from '../errors.ts'
import type { BlockHeader } from './block.ts'

/** What the store notes of its parts beside their rows. All of it can be made again from the rows. */

const Count = z.int().min(0)

/** Of a log: how many rows a chunk and a block have, and the number of the next row. */
const LogNote = z
  .object({ chunkRows: Count.min(1), blockRows: Count.min(1), next: Count })
  .refine(({ chunkRows, blockRows }) => blockRows % chunkRows === 0)
export type LogNote = z.infer<typeof LogNote>

/** Of a collection: the shape that all its rows have, but for those that failed to reach it. */
const CollectionNote = z.object({ version: z.number(), indexes: z.array(z.string()), failed: Count })
export type CollectionNote = z.infer<typeof CollectionNote>

const Header: z.ZodType<BlockHeader> = z.object({
  block: Count,
  rows: Count,
  bodies: Count,
  minId: z.string(),
  maxId: z.string(),
  minTime: z.number(),
  maxTime: z.number(),
  fields: z.array(z.string()),
  numbers: z.array(z.string()).exactOptional(),
})

/** What a text notes, or undefined when it is damaged. */
type Parse<T> = (text: string) => T | undefined

export const parseLogNote: Parse<LogNote> = (text) => parsed(LogNote, text)
export const parseCollectionNote: Parse<CollectionNote> = (text) => parsed(CollectionNote, text)
/** Of a sequence: the number of its last entry. */
export const parseEnd: Parse<number> = (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)
export const parseHeader: Parse<BlockHeader> = (text) => parsed(Header, text)

/** What is noted under a key. Throws `STORE_DAMAGED`, with the key and what mends it. */
export function noted<T>(key: string, text: string, parse: Parse<T>): T {
  const note = parse(text)
  if (note !== undefined) return note
  throw new StoreError(
    'STORE_DAMAGED',
    `The cell ${key} of the store cannot be read. Stop the gateway; \`switchyard doctor --repair\` makes it again from the rows.`,
  )
}

function parsed<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

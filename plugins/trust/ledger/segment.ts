import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { z } from 'zod'
import type { LedgerEntry } from '#kernel'
import { type Columns, columnsOf, type Found, foundBy, rowsOf } from './columns.ts'
import type { End } from './entry.ts'
import type { Placed } from './facts.ts'

/** Entries that were written together, as the store has them. `seq`, `hash` and `created_at` are those of the last one. */
export interface Segment extends End {
  readonly first: number
  /**
   * The entries as JSON lines. Entries are much alike, so those of a segment of several are compressed with zstd, in base64, which
   * takes a fifth of the space.
   */
  readonly lines: string
  /** What its entries are found by, so that an index need not read them; absent where they are not compressed. */
  readonly columns?: Columns
}

/** Entries of a segment, so that one of them is read quickly and none takes long to write. */
export const mostEntries = 256
/** Fewer entries than these gain less space than compressing them takes time. */
const worthwhile = 4

/** Checks nothing: what is written is made by `segmentOf`, and verification reads what is stored. */
export const segmentSchema = z.custom<Segment>()

const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** A segment of entries that follow each other, at least one. */
export function segmentOf(entries: readonly Placed[]): Segment {
  const text = entries.map(({ line }) => line).join('\n')
  const { ledger, seq, hash, created_at } = entries.at(-1)!
  const end = { first: seq - entries.length + 1, ledger, seq, hash, created_at }
  if (entries.length < worthwhile) return { ...end, lines: text }
  const columns = columnsOf(entries.map(({ found }) => found))
  return { ...end, columns, lines: zstdCompressSync(text, fast).toString('base64') }
}

/** Throws for a segment that cannot be read. */
export function entriesOf({ lines }: Segment): LedgerEntry[] {
  const text = lines.startsWith('{') ? lines : zstdDecompressSync(Buffer.from(lines, 'base64')).toString()
  return text.split('\n').map((line) => JSON.parse(line))
}

/** What the entries of a segment are found by, by their order. */
export function* foundIn(segment: Segment): Generator<Found> {
  if (segment.columns) yield* rowsOf(segment.columns)
  else for (const entry of entriesOf(segment)) yield foundBy(entry)
}

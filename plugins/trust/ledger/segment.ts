import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { LedgerEntry } from '#kernel'
import { type Columns, type Found, foundBy, rowsOf } from './columns.ts'
import type { End } from './end.ts'

/** Entries that were written together. `seq`, `hash` and `created_at` are those of the last one. */
export interface Joined extends End {
  readonly first: number
  /**
   * The entries as JSON lines. Entries are much alike, so those of a segment of several are compressed with zstd, in base64, which
   * takes a fifth of the space.
   */
  readonly lines: string
}

/** The same as the store has them. */
export interface Segment extends Joined {
  /** What its entries are found by, so that an index need not read them; absent where they are not compressed. */
  readonly columns?: Columns
}

/** Entries of a segment, so that one of them is read quickly and none takes long to write. */
export const mostEntries = 256
/** Fewer entries than these gain less space than compressing them takes time. */
const worthwhile = 4

const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** So many entries that follow each other, as a segment has them, of their JSON lines and the last of them. */
export function joined(text: Buffer, count: number, { ledger, seq, hash, created_at }: End): Joined {
  const lines = count < worthwhile ? text.toString() : zstdCompressSync(text, fast).toString('base64')
  return { first: seq - count + 1, ledger, seq, hash, created_at, lines }
}

/** The segment of entries that are found by these facts. */
export const segmentOf = (entries: Joined, columns: Columns): Segment =>
  entries.seq - entries.first + 1 < worthwhile ? entries : { ...entries, columns }

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

import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { z } from 'zod'
import type { LedgerEntry } from '#kernel'
import type { End } from './entry.ts'

/**
 * Entries that were written together, as the store has them. Entries are much alike, so a segment of many takes a fifth of their
 * space. `seq`, `hash` and `created_at` are those of the last one.
 */
export interface Segment extends End {
  readonly first: number
  /** The entries as JSON lines: compressed with zstd, in base64. */
  readonly lines: string
}

/** Entries of a segment, so that one of them is read quickly and none takes long to write. */
export const mostEntries = 256

/** Checks nothing: what is written is made by `segmentOf`, and verification reads what is stored. */
export const segmentSchema = z.custom<Segment>()

const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** A segment of entries that follow each other, at least one. */
export function segmentOf(entries: readonly LedgerEntry[]): Segment {
  const lines = entries.map((entry) => JSON.stringify(entry)).join('\n')
  const { ledger, seq, hash, created_at } = entries.at(-1)!
  const compressed = zstdCompressSync(lines, fast).toString('base64')
  return { first: entries[0]!.seq, ledger, seq, hash, created_at, lines: compressed }
}

/** Throws for a segment that cannot be read. */
export function entriesOf({ lines }: Segment): LedgerEntry[] {
  const text = zstdDecompressSync(Buffer.from(lines, 'base64')).toString()
  return text.split('\n').map((line) => JSON.parse(line))
}

import { setImmediate as turn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { LedgerEntry } from '#kernel'
import { columnsOf, foundBy } from './columns.ts'
import { type End, hashOf, idOf, noHash } from './end.ts'
import { entriesOf, type Segment } from './segment.ts'
import type { Segments } from './segments.ts'

/** The first entry that is not as it was written, and in what way. */
export class Broken extends Error {
  readonly seq: number

  constructor(seq: number, reason: string) {
    super(reason)
    this.seq = seq
  }
}

/** Where a walk begins: behind this entry. The ledger is undefined where it may be any. */
export type Place = Pick<End, 'seq' | 'hash'> & { readonly ledger: string | undefined }

export const beginning: Place = { seq: 0, hash: noHash, ledger: undefined }

const damaged = 'This entry cannot be read: what is stored in its place is damaged.'

/**
 * Reads the entries behind a place, up to another, and checks each: that it stands where it says, follows the one before it, and
 * has the hash of its content. Throws a `Broken` for the first that does not.
 */
export async function* walk(segments: Segments, from: Place, to: number): AsyncGenerator<LedgerEntry> {
  let place = from
  try {
    for await (const segment of segments.from(from.seq + 1)) {
      const entries = readable(segment, place.seq + 1)
      for (const entry of entries) {
        if (entry.seq <= from.seq && place === from) continue
        if (place.seq >= to) return
        check(entry, place)
        yield entry
        place = entry
      }
      if (!agrees(segment, entries))
        throw new Broken(place.seq, 'What the store says of this entry is not what the entry says.')
      await turn()
    }
  } catch (error) {
    throw isDamage(error) ? new Broken(place.seq + 1, damaged) : error
  }
  if (place.seq < to) throw new Broken(place.seq + 1, 'This entry is missing, and so are all behind it.')
}

/** The entry of a place; undefined where none is. Throws a `Broken` for one that cannot be read. */
export async function entryAt(segments: Segments, seq: number): Promise<LedgerEntry | undefined> {
  try {
    for await (const segment of segments.from(seq))
      return readable(segment, seq).find((entry) => entry.seq === seq)
    return undefined
  } catch (error) {
    throw isDamage(error) ? new Broken(seq, damaged) : error
  }
}

/** Whether what a segment says of its entries is what they say. */
function agrees(segment: Segment, entries: readonly LedgerEntry[]): boolean {
  const [first, last] = [entries[0]!, entries.at(-1)!]
  return (
    segment.first === first.seq &&
    segment.seq === last.seq &&
    segment.hash === last.hash &&
    segment.ledger === last.ledger &&
    (!segment.columns || isDeepStrictEqual(columnsOf(entries.map(foundBy)), segment.columns))
  )
}

function readable(segment: Segment, seq: number): LedgerEntry[] {
  try {
    return entriesOf(segment)
  } catch {
    throw new Broken(seq, damaged)
  }
}

const isDamage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ROW_UNREADABLE'

function check(entry: LedgerEntry, { seq, hash, ledger }: Place): void {
  const expected = seq + 1
  if (entry.seq !== expected)
    throw new Broken(
      expected,
      `Entry ${entry.seq} stands in the place of this one, which was moved or deleted.`,
    )
  if (hashOf(entry) !== entry.hash)
    throw new Broken(expected, 'This entry was changed: its hash is not that of its content.')
  if (entry.prev_hash !== hash)
    throw new Broken(expected, 'This entry does not follow the one before it: its prev_hash is another.')
  if (ledger !== undefined && entry.ledger !== ledger)
    throw new Broken(expected, `This entry is of another ledger, ${entry.ledger}.`)
  if (entry.id !== idOf(entry.ledger, expected))
    throw new Broken(expected, 'The id of this entry is not that of its place.')
}

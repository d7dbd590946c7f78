import type { ByteWriter } from './byte-writer.ts'
import { type Columns, ColumnsBuilder, columnsOf, type Found, rowsOf } from './columns.ts'
import type { DraftBytes } from './draft-bytes.ts'
import type { End } from './end.ts'
import { type Linked, link } from './linking/link.ts'
import type { Recorded } from './recorded.ts'
import { mostEntries, type Segment, segmentOf } from './segment.ts'

/** Entries and bytes from which on linking takes long enough to be worth another thread. */
const many = 32
const long = 131_072
/** Bytes that are enough for a batch. */
const mostLength = 4 * 1024 * 1024

/** Drafts that get their places in the chain together. */
export class Batch {
  readonly drafts: DraftBytes
  readonly #found = new ColumnsBuilder()
  /** Number of the drafts. */
  count = 0
  /** Bytes of the drafts. */
  length = 0
  /** Whether another thread links it, so that it is worth waiting for. */
  isLinking = false
  /** Whether another thread was asked to link it to where the chain was expected to end. */
  isGuessed = false
  #ahead: { readonly after: string; readonly linked: Linked } | undefined

  /** Has the drafts in this memory, where none are yet. */
  constructor(drafts: DraftBytes) {
    this.drafts = drafts
  }

  /** Returns how many bytes these are. */
  add(recorded: Recorded, found: Found): number {
    this.count += 1
    this.#found.add(found)
    const added = this.drafts.add(recorded)
    this.length += added
    return added
  }

  get isFull(): boolean {
    return this.count >= mostEntries || this.length >= mostLength
  }

  get isLarge(): boolean {
    return this.count >= many || this.length >= long
  }

  /** Keeps what was linked before its time, for the case that the chain still ends there. */
  keep(after: End, linked: Linked): void {
    this.#ahead = { after: after.hash, linked }
  }

  /** Whether its entries are known that follow this end. */
  isAheadOf(end: End): boolean {
    return this.#ahead?.after === end.hash
  }

  /**
   * The segment behind the end of a chain, undefined where no entry is left, and how many of the drafts could be none. Writes over what
   * `lines` has.
   */
  placed(end: End, lines: ByteWriter): { readonly segment: Segment | undefined; readonly dropped: number } {
    const { entries, dropped } = this.isAheadOf(end)
      ? this.#ahead!.linked
      : link(this.drafts.bytes, end, lines)
    if (!entries) return { segment: undefined, dropped: dropped.length }
    return { segment: segmentOf(entries, this.#columnsWithout(dropped)), dropped: dropped.length }
  }

  #columnsWithout(rows: readonly number[]): Columns {
    const { columns } = this.#found
    return rows.length === 0 ? columns : columnsOf([...rowsOf(columns)].filter((_, at) => !rows.includes(at)))
  }
}

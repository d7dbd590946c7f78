import type { Found } from './columns.ts'
import type { End } from './end.ts'
import { type Linked, link } from './linking/link.ts'
import type { Recorded } from './recorded.ts'
import { mostEntries, type Segment, segmentOf } from './segment.ts'

/** Entries and characters from which on linking takes long enough to be worth another thread. */
const many = 32
const long = 131_072
/** Characters that are enough for a batch. */
const mostLength = 4 * 1024 * 1024

/** Drafts that get their places in the chain together. */
export class Batch {
  readonly recorded: Recorded[] = []
  readonly #found: Found[] = []
  /** Characters of the drafts. */
  length = 0
  /** Whether another thread links it, so that it is worth waiting for. */
  isLinking = false
  #ahead: { readonly after: string; readonly linked: Linked } | undefined

  /** Returns how many characters these are. */
  add(recorded: Recorded, found: Found): number {
    this.recorded.push(recorded)
    this.#found.push(found)
    this.length += recorded.length
    return recorded.length
  }

  get isFull(): boolean {
    return this.recorded.length >= mostEntries || this.length >= mostLength
  }

  get isLarge(): boolean {
    return this.recorded.length >= many || this.length >= long
  }

  /** Keeps what was linked before its time, for the case that the chain still ends there. */
  keep(after: End, linked: Linked): void {
    this.#ahead = { after: after.hash, linked }
  }

  /** Whether its entries are known that follow this end. */
  isAheadOf(end: End): boolean {
    return this.#ahead?.after === end.hash
  }

  /** The segment behind the end of a chain, undefined where no entry is left, and how many of the drafts could be none. */
  placed(end: End): { readonly segment: Segment | undefined; readonly dropped: number } {
    const { entries, dropped } = this.isAheadOf(end) ? this.#ahead!.linked : link(this.recorded, end)
    if (!entries) return { segment: undefined, dropped: dropped.length }
    const found = dropped.length === 0 ? this.#found : this.#found.filter((_, at) => !dropped.includes(at))
    return { segment: segmentOf(entries, found), dropped: dropped.length }
  }
}

import type { Found } from './columns.ts'
import type { End } from './entry.ts'
import type { Facts, Made } from './facts.ts'
import { type Linked, link } from './linking/link.ts'
import { mostEntries, type Segment, segmentOf } from './segment.ts'

/** Entries and characters from which on linking takes long enough to be worth another thread. */
const many = 32
const long = 131_072
/** Characters that are enough for a batch. */
const mostLength = 4 * 1024 * 1024

/** Facts that get their places in the chain together. */
export class Batch {
  readonly facts: Facts[] = []
  readonly #found: Found[] = []
  /** Characters of the facts. */
  length = 0
  /** Whether another thread links it, so that it is worth waiting for. */
  isLinking = false
  #ahead: { readonly after: string; readonly linked: Linked } | undefined

  /** Returns how many characters these are. */
  add({ facts, found }: Made): number {
    this.facts.push(facts)
    this.#found.push(found)
    this.length += facts.length
    return facts.length
  }

  get isFull(): boolean {
    return this.facts.length >= mostEntries || this.length >= mostLength
  }

  get isLarge(): boolean {
    return this.facts.length >= many || this.length >= long
  }

  /** Keeps what was linked before its time, for the case that the chain still ends there. */
  keep(after: End, linked: Linked): void {
    this.#ahead = { after: after.hash, linked }
  }

  /** Whether its entries are known that follow this end. */
  isAheadOf(end: End): boolean {
    return this.#ahead?.after === end.hash
  }

  /** The segment behind the end of a chain, undefined where no entry is left, and how many of the facts could be none. */
  placed(end: End): { readonly segment: Segment | undefined; readonly dropped: number } {
    const { entries, dropped } = this.isAheadOf(end) ? this.#ahead!.linked : link(this.facts, end)
    if (!entries) return { segment: undefined, dropped: dropped.length }
    const found = dropped.length === 0 ? this.#found : this.#found.filter((_, at) => !dropped.includes(at))
    return { segment: segmentOf(entries, found), dropped: dropped.length }
  }
}

import type { LedgerEntry, LedgerQuery, Page, Store } from '#kernel'
import { IndexBlocks } from './index-blocks.ts'
import type { Segments } from './segments.ts'

export interface Window {
  readonly after?: string | undefined
  readonly limit: number
  readonly offset: number
}

/**
 * Lists entries by type, actor, resource, time and place. Its index is derived from the chain, apart from it and off the path of calls:
 * it is brought up to date in the background, and before it is asked.
 */
export class Listing {
  readonly #segments: Segments
  readonly #blocks: IndexBlocks

  constructor(store: Store, segments: Segments) {
    this.#segments = segments
    this.#blocks = new IndexBlocks(store, segments)
  }

  /** Newest first. */
  async page(query: LedgerQuery, window: Window): Promise<Page<LedgerEntry>> {
    const { eventType, actor, resource } = query
    return (eventType ?? actor ?? resource) === undefined
      ? this.#byPlace(query, window)
      : this.#byField(query, window)
  }

  /** Indexes entries that are not yet, up to about so many. */
  catchUp(most: number): Promise<void> {
    return this.#blocks.catchUp(most)
  }

  /** Without other conditions the places of the entries are known. */
  async #byPlace(query: LedgerQuery, { after, limit, offset }: Window): Promise<Page<LedgerEntry>> {
    const { from, to } = await this.#places(query)
    const top = Math.min(to, after === undefined ? to : placeOf(after) - 1) - offset
    const bottom = Math.max(from, top - limit + 1)
    const items = top < bottom ? [] : (await Array.fromAsync(this.#segments.scan(bottom, top))).reverse()
    const total = Math.max(0, to - from + 1)
    return { items, total, ...(items.length > 0 && bottom > from && { next: String(bottom) }) }
  }

  async #byField(query: LedgerQuery, { after, limit, offset }: Window): Promise<Page<LedgerEntry>> {
    const { from, to } = await this.#places(query)
    const top = after === undefined ? to : Math.min(to, placeOf(after) - 1)
    let total = 0
    const shown: number[] = []
    let behind = 0
    for await (const found of this.#blocks.find(query))
      for (const seq of found.toReversed()) {
        if (seq < from || seq > to) continue
        total += 1
        if (seq > top) continue
        behind += 1
        if (behind > offset && shown.length < limit) shown.push(seq)
      }
    const items: LedgerEntry[] = []
    for (const seq of shown) {
      const entry = await this.#segments.get(seq)
      if (entry) items.push(entry)
    }
    const isLast = behind <= offset + shown.length
    return { items, total, ...(!isLast && { next: String(shown.at(-1)) }) }
  }

  /** The first and the last place of a query. */
  async #places({ fromSeq = 1, toSeq, from, to }: LedgerQuery): Promise<{ from: number; to: number }> {
    const { seq } = await this.#segments.head()
    return {
      from: Math.max(fromSeq, from === undefined ? 1 : await this.#segments.seqAt(from)),
      to: Math.min(toSeq ?? seq, to === undefined ? seq : (await this.#segments.seqAt(to)) - 1),
    }
  }
}

/** Of a cursor: the place of the last entry that was shown. */
function placeOf(cursor: string): number {
  if (/^[1-9][0-9]{0,15}$/.test(cursor)) return Number(cursor)
  throw Object.assign(new Error('This is no place in the ledger.'), { code: 'QUERY_INVALID' })
}

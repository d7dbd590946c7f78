import { z } from 'zod'
import type { LedgerEntry, LedgerHead, Sequence } from '#kernel'
import { type End, noHash } from './end.ts'
import { entriesOf, type Segment } from './segment.ts'

/** Checks nothing: what is written is made by `segmentOf`, and verification reads what is stored. */
export const segmentSchema = z.custom<Segment>()

/** Reads entries out of the segments of a sequence. */
export class Segments {
  readonly #sequence: Sequence<Segment>
  readonly #queue: () => void

  /** `queue` is called before the sequence is read, for what waits to be queued there. */
  constructor(sequence: Sequence<Segment>, queue: () => void) {
    this.#sequence = sequence
    this.#queue = queue
  }

  async head(): Promise<LedgerHead> {
    const { seq = 0, hash = noHash } = (await this.end()) ?? {}
    return { seq, hash }
  }

  /** Undefined while the ledger is empty. */
  async end(): Promise<End | undefined> {
    this.#queue()
    return this.#sequence.get(await this.#sequence.last())
  }

  async get(seq: number): Promise<LedgerEntry | undefined> {
    for await (const entry of this.scan(seq, seq)) return entry
    return undefined
  }

  /** Entries from one place to another, both included. */
  async *scan(from = 1, to = Number.POSITIVE_INFINITY): AsyncGenerator<LedgerEntry> {
    for await (const segment of this.from(from)) {
      if (segment.first > to) return
      for (const entry of entriesOf(segment)) if (entry.seq >= from && entry.seq <= to) yield entry
    }
  }

  /** The segments from the one that has an entry on. */
  async *from(seq: number): AsyncGenerator<Segment> {
    this.#queue()
    yield* this.#sequence.scan(seq <= 1 ? 1 : await this.#firstWhere((segment) => segment.seq >= seq))
  }

  /** The place of the first entry that is not older than a time in milliseconds; behind the last where all are. */
  async seqAt(ms: number): Promise<number> {
    const time = new Date(ms).toISOString()
    const segment = await this.#sequence.get(await this.#firstWhere(({ created_at }) => created_at >= time))
    if (!segment) return (await this.head()).seq + 1
    return entriesOf(segment).find(({ created_at }) => created_at >= time)?.seq ?? segment.seq + 1
  }

  /** The number of the first segment for which a condition holds that holds for all behind it as well. */
  async #firstWhere(holds: (segment: Segment) => boolean): Promise<number> {
    this.#queue()
    let [low, high] = [1, (await this.#sequence.last()) + 1]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const segment = await this.#sequence.get(middle)
      if (segment && holds(segment)) high = middle
      else low = middle + 1
    }
    return low
  }
}

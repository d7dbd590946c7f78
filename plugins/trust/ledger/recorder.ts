import type { Awaitable, Sequence } from '#kernel'
import { Batch } from './batch.ts'
import type { End } from './entry.ts'
import { type Made, newLedger } from './facts.ts'
import { LinkingThread } from './linking/thread.ts'
import { mostEntries, type Segment } from './segment.ts'

/** How long entries wait for others, in milliseconds. */
const waitMs = 100
/** Batches that may wait to be written, and characters of what they hash. */
const mostBatches = Math.ceil(50_000 / mostEntries)
const mostLength = 64 * 1024 * 1024

/**
 * Has entries appended a moment later, those that come together as one segment. Where they are many, another thread links them
 * meanwhile to where the chain is expected to end. If it ends elsewhere by then, they are linked again as they are written, so the
 * expectation decides nothing but the time it takes.
 */
export class Recorder {
  readonly #sequence: Sequence<Segment>
  readonly #thread = new LinkingThread()
  #batch: Batch | undefined
  #timer: NodeJS.Timeout | undefined
  /** Batches that are queued and have no place yet. */
  readonly #queued = new Set<Batch>()
  /** Characters of all that waits. */
  #length = 0
  /** Where the chain is expected to end once all batches are written; undefined while that is not known. */
  #expected: Awaitable<End | undefined>
  #dropped = 0
  #isClosed = false

  constructor(sequence: Sequence<Segment>) {
    this.#sequence = sequence
  }

  /** Entries that are lost, since the start. */
  get dropped(): number {
    return this.#dropped
  }

  /** False when there is no room. */
  record(made: Made): boolean {
    if (this.#length > mostLength) return this.drop()
    this.#batch ??= this.#open()
    this.#length += this.#batch.add(made)
    if (this.#isClosed) return this.#queue() !== undefined
    if (this.#batch.isFull) return this.#send()
    this.#timer ??= setTimeout(() => this.#send(), waitMs).unref()
    return true
  }

  drop(count = 1): false {
    this.#dropped += count
    return false
  }

  /** Queues what waits for others, so that a reader of the sequence has it. */
  queue(): void {
    this.#queue()
  }

  /** Something else was appended: the chain ends there now. */
  appended(end: End): void {
    this.#expected = this.#queued.size === 0 ? end : undefined
  }

  /** What waits is queued; what comes later waits no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.queue()
    await this.#thread.close()
  }

  #open(): Batch {
    if (this.#queued.size === 0) this.#expected ??= this.#end().catch(() => undefined)
    return new Batch()
  }

  async #end(): Promise<End | undefined> {
    return this.#sequence.get(await this.#sequence.last())
  }

  #queue(): Batch | undefined {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#batch
    if (!batch) return undefined
    this.#batch = undefined
    const isTaken =
      this.#sequence.status().depth < mostBatches && this.#sequence.queue((last) => this.#place(batch, last))
    if (isTaken) {
      this.#queued.add(batch)
      return batch
    }
    this.#length -= batch.length
    this.drop(batch.facts.length)
    return undefined
  }

  /** False when there was no room. */
  #send(): boolean {
    const batch = this.#queue()
    if (!batch) return false
    const linked = batch.isLarge ? this.#linkAhead(batch) : undefined
    // What the disk refuses waits, and the sequence tries it again and reports it.
    Promise.resolve(linked)
      .then(() => this.#sequence.flush())
      .catch(() => {})
    return true
  }

  async #linkAhead(batch: Batch): Promise<unknown> {
    const before = this.#expected
    const link = async (): Promise<End | undefined> => {
      const end = await before
      if (!end) return undefined
      const linked = await this.#thread.link(batch.facts, end)
      batch.keep(end, linked)
      return linked.entries ?? end
    }
    // Without the thread, as when it was lost, entries are linked as they are written.
    const linked = link().catch(() => undefined)
    this.#expected = linked
    return linked
  }

  /** Called again for the same batch when another thread of the gateway was first. */
  #place(batch: Batch, last: End = newLedger()): Segment {
    const isExpected = batch.isAheadOf(last)
    const isFirst = this.#queued.delete(batch)
    if (isFirst) this.#length -= batch.length
    const { segment, dropped } = batch.placed(last)
    if (isFirst) this.drop(dropped)
    if (!segment) throw new TypeError('None of these facts can be an entry.')
    if (!isExpected) this.appended(segment)
    return segment
  }
}

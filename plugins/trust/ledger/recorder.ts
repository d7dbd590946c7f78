import { availableParallelism } from 'node:os'
import type { Awaitable, Sequence } from '#kernel'
import { Backoff } from './backoff.ts'
import { Batch } from './batch.ts'
import { ByteWriter } from './byte-writer.ts'
import type { Found } from './columns.ts'
import { DraftMemory } from './draft-memory.ts'
import type { End } from './end.ts'
import { LinkingThread } from './linking/thread.ts'
import { newLedger } from './new-ledger.ts'
import type { Recorded } from './recorded.ts'
import { mostEntries, type Segment } from './segment.ts'

/** How long entries wait for others, in milliseconds. */
const waitMs = 100
/** How long a batch waits for the thread that links it, in milliseconds. */
const patienceMs = 1000
/** Batches that may wait to be written, and bytes of what they hash. */
const mostBatches = Math.ceil(50_000 / mostEntries)
const mostLength = 64 * 1024 * 1024
/** Bytes that are expected of a batch: some more than the one before had, within these bounds. */
const expected = { least: 16_384, most: 1024 * 1024, growth: 1.125 }

/**
 * Has entries appended a moment later, those that come together as one segment. Where they are many and there is another core, another
 * thread links them first to where the chain is expected to end. If it ends elsewhere by then, or somebody reads, they are linked as they
 * are written, so the expectation decides nothing but the time it takes.
 */
export class Recorder {
  readonly #sequence: Sequence<Segment>
  readonly #thread = new LinkingThread()
  readonly #hasOtherCore: boolean
  /** Linking ahead is in vain while other threads of the gateway append, too. */
  readonly #backoff = new Backoff()
  /** What the first entry follows if no other ledger begins before. */
  readonly #beginning = newLedger()
  #batch: Batch | undefined
  #timer: NodeJS.Timeout | undefined
  /** Batches that are being linked, and those behind them. */
  readonly #linking: Batch[] = []
  /** Batches that the sequence has and that have no place yet. */
  readonly #queued = new Set<Batch>()
  readonly #memory = new DraftMemory()
  /** Where entries are linked in this thread. */
  #lines = new ByteWriter(expected.least)
  /** Bytes of all that waits. */
  #length = 0
  #expectedSize = expected.least
  /** Where the chain is expected to end once all batches are written; undefined while that is not known. */
  #expected: Awaitable<End | undefined>
  #dropped = 0
  #isClosed = false

  constructor(sequence: Sequence<Segment>, cores = availableParallelism()) {
    this.#sequence = sequence
    this.#hasOtherCore = cores > 1
  }

  /** Entries that are lost, since the start. */
  get dropped(): number {
    return this.#dropped
  }

  /** False when there is no room. */
  record(recorded: Recorded, found: Found): boolean {
    if (this.#length > mostLength || (!this.#batch && !this.#hasRoom())) return this.drop()
    this.#batch ??= this.#open()
    this.#length += this.#batch.add(recorded, found)
    if (this.#isClosed) this.queue()
    else if (this.#batch.isFull) this.#send()
    else this.#timer ??= setTimeout(() => this.#send(), waitMs).unref()
    return true
  }

  drop(count = 1): false {
    this.#dropped += count
    return false
  }

  /** Queues what waits, so that a reader of the sequence has it. */
  queue(): void {
    this.#finish()
    while (this.#linking.length > 0) this.#queueFirst()
  }

  /** Something else was appended: the chain ends there now. */
  appended(end: End): void {
    this.#expected = this.#isIdle() ? end : undefined
  }

  /** What waits is queued; what comes later waits no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.queue()
    await this.#thread.close()
  }

  #hasRoom(): boolean {
    return this.#linking.length + this.#sequence.status().depth < mostBatches
  }

  /** Whether no batch but the one that grows waits for its place. */
  #isIdle(): boolean {
    return this.#queued.size === 0 && this.#linking.length === 0
  }

  #open(): Batch {
    if (this.#isIdle()) this.#expected ??= this.#end().catch(() => undefined)
    return new Batch(this.#memory.take(this.#expectedSize, this.#sequence.status().depth))
  }

  async #end(): Promise<End> {
    return (await this.#sequence.get(await this.#sequence.last())) ?? this.#beginning
  }

  /** The batch that grew is whole. */
  #finish(): Batch | undefined {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#batch
    this.#batch = undefined
    if (!batch) return undefined
    const { least, most, growth } = expected
    this.#expectedSize = Math.min(most, Math.max(least, Math.ceil(batch.length * growth)))
    this.#linking.push(batch)
    return batch
  }

  #send(): void {
    const batch = this.#finish()
    if (this.#hasOtherCore && batch?.isLarge && this.#backoff.takes()) this.#linkAhead(batch)
    this.#queueLinked()
  }

  #queueLinked(): void {
    while (this.#linking[0] && !this.#linking[0].isLinking) this.#queueFirst()
  }

  #queueFirst(): void {
    const batch = this.#linking.shift()!
    if (this.#sequence.queue((last) => this.#place(batch, last))) {
      this.#queued.add(batch)
      this.#memory.giveBack(batch.drafts)
      return
    }
    this.#length -= batch.length
    this.drop(batch.count)
  }

  #linkAhead(batch: Batch): void {
    const before = this.#expected
    const { drafts } = batch
    const link = async (): Promise<End | undefined> => {
      drafts.isLent = true
      try {
        const end = await before
        if (!end) return undefined
        const linked = await this.#thread.link(drafts.bytes, end)
        batch.keep(end, linked)
        return linked.entries ?? end
      } finally {
        drafts.isLent = false
      }
    }
    // Without the thread, as when it was lost, entries are linked as they are written.
    const linked = link().catch(() => undefined)
    this.#expected = linked
    batch.isLinking = true
    batch.isGuessed = true
    const end = (): void => {
      clearTimeout(patience)
      batch.isLinking = false
      this.#queueLinked()
    }
    const patience = setTimeout(end, patienceMs).unref()
    linked.then(end, end)
  }

  /** Called again for the same batch when another thread of the gateway was first. */
  #place(batch: Batch, last: End = this.#beginning): Segment {
    const isExpected = batch.isAheadOf(last)
    if (batch.isGuessed) this.#backoff.ended(isExpected)
    const isFirst = this.#queued.delete(batch)
    if (isFirst) this.#length -= batch.length
    const { segment, dropped } = batch.placed(last, this.#lines)
    if (this.#lines.capacity > expected.most) this.#lines = new ByteWriter(expected.least)
    if (isFirst) this.drop(dropped)
    if (!segment) throw new TypeError('None of these drafts can be an entry.')
    if (!isExpected) this.appended(segment)
    return segment
  }
}

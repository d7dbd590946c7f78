import type { SequenceStatus } from '../index.ts'

export type Make<T> = (previous: T | undefined, seq: number) => T

/** Entries that may wait; further ones are dropped and counted. */
const mostWaiting = 50_000
/** Entries that are written together at the most. */
const sliceLength = 500
/** Milliseconds until entries that were refused are tried again. */
const retryMs = 1000

interface EntryQueueParts<T> {
  /** Milliseconds that entries wait for more of their kind. */
  readonly flushMs: number
  /** Writes the first of these and tells how many it dealt with; rejects when it wrote none. */
  readonly write: (makes: readonly Make<T>[]) => Promise<number>
  /** Called when all that waited is written, for an fsync. */
  readonly written: () => Promise<void>
  readonly isOpen: () => boolean
  /** Called for queued entries that could not be written; they are tried again. */
  readonly failed: (error: unknown) => void
}

/** Entries of a sequence that wait to be made, in their order. */
export class EntryQueue<T> {
  readonly #parts: EntryQueueParts<T>
  #makes: Make<T>[] = []
  #pushed = 0
  #done = 0
  #dropped = 0
  #slice: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(parts: EntryQueueParts<T>) {
    this.#parts = parts
  }

  get status(): SequenceStatus {
    return { depth: this.#pushed - this.#done, dropped: this.#dropped }
  }

  /** False when there is no room. */
  push(make: Make<T>): boolean {
    if (!this.#parts.isOpen() || this.#pushed - this.#done >= mostWaiting) {
      this.#dropped += 1
      return false
    }
    this.#makes.push(make)
    this.#pushed += 1
    this.#writeIn(this.#parts.flushMs)
    return true
  }

  /** Counts an entry that could not be made. */
  drop(): void {
    this.#dropped += 1
  }

  /** Resolves when all that was pushed before is written. */
  async drain(): Promise<void> {
    const all = this.#pushed
    while (this.#done < all) {
      this.#slice ??= this.#writeSlice().finally(() => {
        this.#slice = undefined
      })
      await this.#slice
    }
  }

  /** Ends what would happen by itself. */
  rest(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #writeSlice(): Promise<void> {
    const slice = this.#makes.splice(0, sliceLength)
    let done = 0
    try {
      done = await this.#parts.write(slice)
    } finally {
      this.#makes.unshift(...slice.slice(done))
      this.#done += done
    }
  }

  #writeIn(ms: number): void {
    this.#timer ??= setTimeout(() => this.#writeInBackground(), ms).unref()
  }

  #writeInBackground(): void {
    this.#timer = undefined
    this.drain()
      .then(() => this.#parts.written())
      .catch((error) => {
        if (!this.#parts.isOpen()) return
        this.#parts.failed(error)
        this.#writeIn(retryMs)
      })
  }
}

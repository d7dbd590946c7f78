import type { Chunk } from '#kernel'
import { detach } from '#kit'
import { tooSlow } from './failures.ts'

type Batch = readonly Chunk[]
type Step = IteratorResult<Batch, undefined>

/** How a stream ends for a reader: with an error, or simply. */
interface End {
  readonly error?: unknown
}

/** One who reads a shared stream, and its place there. */
interface Reader {
  /** Batches that it has read. */
  place: number
  end: End | undefined
  /** Tells a reader that waits that there is something new. */
  wake: (() => void) | undefined
}

/** What a reader is given: the stream, and what ends it for this reader alone. */
export interface Reading {
  readonly chunks: AsyncIterable<Batch>
  leave(error?: unknown): void
}

/**
 * One stream with several readers. Each reads it from its beginning, and it is fetched as fast as the fastest of them reads. The
 * newest `maxBytes` of it are kept, and always the newest batch; a reader that is further behind is cut off.
 */
export class SharedStream {
  readonly #source: AsyncIterator<Batch>
  readonly #maxBytes: number
  readonly #readers = new Set<Reader>()
  readonly #kept: { readonly batch: Batch; readonly bytes: number }[] = []
  #bytes = 0
  /** Batches that are no longer kept. */
  #dropped = 0
  #isFetching = false
  #isLeft = false
  #end: End | undefined
  readonly #over = Promise.withResolvers<void>()

  constructor(source: AsyncIterable<Batch>, maxBytes: number) {
    this.#source = source[Symbol.asyncIterator]()
    this.#maxBytes = maxBytes
  }

  /** Whether a reader that comes now can have all of it. */
  get isOpen(): boolean {
    return this.#dropped === 0 && !this.#isLeft && this.#end === undefined
  }

  /** Resolves when nothing more is read from the source. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  /** Adds a reader. One that `stays` learns of any end only when the stream is over for all. */
  read(stays: boolean): Reading {
    const reader: Reader = { place: 0, end: undefined, wake: undefined }
    this.#readers.add(reader)
    const leave = (error?: unknown): void => this.#cut(reader, error === undefined ? {} : { error })
    const iterator: AsyncIterator<Batch> = {
      next: async () => {
        const step = await this.#next(reader)
        if (stays && !step) await this.#over.promise
        return step ?? this.#endOf(reader)
      },
      return: async () => {
        leave()
        if (stays) await this.#over.promise
        return { done: true, value: undefined }
      },
    }
    return { chunks: { [Symbol.asyncIterator]: () => iterator }, leave }
  }

  /** The next batch for a reader; undefined when there is none any more. */
  async #next(reader: Reader): Promise<Step | undefined> {
    while (!reader.end) {
      const kept = this.#kept[reader.place - this.#dropped]
      if (kept) {
        reader.place += 1
        return { done: false, value: kept.batch }
      }
      if (this.#end) return undefined
      this.#fetch()
      await new Promise<void>((wake) => {
        reader.wake = wake
      })
    }
    return undefined
  }

  #endOf(reader: Reader): Step {
    const end = reader.end ?? this.#end!
    if ('error' in end) throw end.error
    return { done: true, value: undefined }
  }

  #fetch(): void {
    if (this.#isFetching) return
    this.#isFetching = true
    this.#source
      .next()
      .then((step) => this.#fetched(step))
      .catch((error: unknown) => this.#finish({ error }))
  }

  #fetched(step: IteratorResult<Batch, unknown>): void {
    this.#isFetching = false
    if (step.done) this.#finish({})
    else if (this.#isLeft) this.#release()
    else this.#keep(step.value)
  }

  #keep(batch: Batch): void {
    const bytes = batch.reduce((sum, chunk) => sum + sizeOf(chunk), 0)
    this.#kept.push({ batch, bytes })
    this.#bytes += bytes
    while (this.#bytes > this.#maxBytes && this.#kept.length > 1) this.#drop()
    this.#wakeAll()
  }

  /** Lets go of the oldest batch, and of the readers that had yet to read it. */
  #drop(): void {
    this.#bytes -= this.#kept.shift()!.bytes
    this.#dropped += 1
    for (const reader of this.#readers)
      if (reader.place < this.#dropped) this.#cut(reader, { error: tooSlow() })
  }

  #cut(reader: Reader, end: End): void {
    if (!this.#readers.delete(reader)) return
    reader.end = end
    reader.wake?.()
    if (this.#readers.size > 0 || this.#end || this.#isLeft) return
    this.#isLeft = true
    if (!this.#isFetching) this.#release()
  }

  /** Leaves the source, which nobody reads any more. */
  #release(): void {
    detach(
      'a shared stream',
      (async () => {
        try {
          await this.#source.return?.()
        } finally {
          this.#finish({})
        }
      })(),
    )
  }

  #finish(end: End): void {
    this.#end ??= end
    this.#over.resolve()
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const reader of this.#readers) reader.wake?.()
  }
}

const sizeOf = (chunk: Chunk): number => chunk.raw?.length ?? Buffer.byteLength(JSON.stringify(chunk.data))

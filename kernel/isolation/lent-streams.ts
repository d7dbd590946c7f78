import type { CompletionChunk } from '../call/canonical.ts'
import type { StreamReply } from '../call/reply.ts'
import type { Chunk } from '../stream/chunk.ts'
import type { ChunkBatch } from './chunk-view.ts'
import { Transit } from './transit.ts'

/** A stream as far as it has been read. */
interface Lent {
  readonly batches: AsyncIterator<readonly Chunk[]>
  /** The batch that was asked for last. */
  reading: Promise<unknown>
  isOver: boolean
}

/** Streams that were given to a module in a worker, which reads them from there. */
export class LentStreams {
  readonly #lent = new Map<StreamReply, Lent>()
  readonly #transit = new Transit()

  /** The next batch, as it crosses; undefined at the end. */
  read(reply: StreamReply): Promise<ChunkBatch | undefined> {
    const lent = this.#lentOf(reply)
    const reading = lent.batches.next().then((step) => {
      if (!step.done) return this.#transit.enter(step.value)
      lent.isOver = true
      return undefined
    })
    lent.reading = reading
    return reading
  }

  /** The module does not want the rest. */
  async leave(reply: StreamReply): Promise<void> {
    const lent = this.#lentOf(reply)
    lent.isOver = true
    await lent.batches.return?.()
  }

  /** What came back of what was read. */
  back(items: readonly (number | CompletionChunk)[]): Chunk[] {
    return this.#transit.leave(items)
  }

  /**
   * What is left of the one stream that was read, with all that never came back; undefined when there is more than one,
   * or when nobody can say what is missing.
   */
  async rest(): Promise<AsyncIterable<readonly Chunk[]> | undefined> {
    const [lent, ...others] = this.#lent.values()
    if (!lent || others.length > 0) return undefined
    await lent.reading
    const back = this.#transit.putBack()
    return back && resumed(back, lent)
  }

  #lentOf(reply: StreamReply): Lent {
    const known = this.#lent.get(reply)
    if (known) return known
    const batches = reply.chunks[Symbol.asyncIterator]()
    const lent = { batches, reading: Promise.resolve(), isOver: false }
    this.#lent.set(reply, lent)
    return lent
  }
}

async function* resumed(back: readonly Chunk[], { batches, isOver }: Lent): AsyncGenerator<readonly Chunk[]> {
  if (back.length > 0) yield back
  if (!isOver) yield* { [Symbol.asyncIterator]: () => batches }
}

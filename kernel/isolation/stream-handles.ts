import type { CompletionChunk } from '../call/canonical.ts'
import type { StreamReply } from '../call/reply.ts'
import type { Chunk } from '../stream/chunk.ts'
import { type ChunkBatch, ChunkTransit } from './chunk-transit.ts'

/** A stream as far as it has been read. */
interface Handle {
  readonly batches: AsyncIterator<readonly Chunk[]>
  /** The batch that was asked for last. */
  reading: Promise<unknown>
  isOver: boolean
}

/** Streams that were given to a module in a worker, which reads them from there. */
export class StreamHandles {
  readonly #handles = new Map<StreamReply, Handle>()
  readonly #transit = new ChunkTransit()

  /** The next batch, as it crosses; undefined at the end. */
  read(reply: StreamReply): Promise<ChunkBatch | undefined> {
    const handle = this.#handleOf(reply)
    const reading = handle.batches.next().then((step) => {
      if (!step.done) return this.#transit.enter(step.value)
      handle.isOver = true
      return undefined
    })
    handle.reading = reading
    return reading
  }

  /** The module does not want the rest. */
  async release(reply: StreamReply): Promise<void> {
    const handle = this.#handleOf(reply)
    handle.isOver = true
    await handle.batches.return?.()
  }

  /** The chunks that came back of those that were read. */
  leave(items: readonly (number | CompletionChunk)[]): Chunk[] {
    return this.#transit.leave(items)
  }

  /**
   * The rest of the one stream that was read, with every chunk that never came back; undefined when there is more than one
   * stream, or if it is not known which chunks are missing.
   */
  async rest(): Promise<AsyncIterable<readonly Chunk[]> | undefined> {
    const [handle, ...others] = this.#handles.values()
    if (!handle || others.length > 0) return undefined
    await handle.reading
    const back = this.#transit.putBack()
    return back && resumed(back, handle)
  }

  #handleOf(reply: StreamReply): Handle {
    const known = this.#handles.get(reply)
    if (known) return known
    const batches = reply.chunks[Symbol.asyncIterator]()
    const handle = { batches, reading: Promise.resolve(), isOver: false }
    this.#handles.set(reply, handle)
    return handle
  }
}

async function* resumed(
  back: readonly Chunk[],
  { batches, isOver }: Handle,
): AsyncGenerator<readonly Chunk[]> {
  if (back.length > 0) yield back
  if (!isOver) yield* { [Symbol.asyncIterator]: () => batches }
}

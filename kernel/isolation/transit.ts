import type { CompletionChunk } from '../call/canonical.ts'
import { type GatewayError, internalError } from '../errors.ts'
import { Chunk } from '../stream/chunk.ts'
import { type ChunkBatch, viewOfChunk } from './chunk-view.ts'

/** An answer cannot go on without the module that was changing it. */
export const lostMidway = (module: string): GatewayError =>
  internalError(`The module ${module} was lost in the middle of an answer that it was changing.`, { module })

/** The chunks of an answer that are in a worker: those that come back as they went keep their bytes. */
export class Transit {
  /** By number, in the order in which they went. */
  readonly #held = new Map<number, Chunk>()
  #count = 0
  #last = -1
  #isAltered = false

  /** Takes a batch to the worker, which knows its chunks by their numbers. */
  enter(batch: readonly Chunk[]): ChunkBatch {
    const first = this.#count
    const chunks = batch.map((chunk) => {
      this.#held.set(this.#count, chunk)
      this.#count += 1
      return viewOfChunk(chunk)
    })
    return { first, chunks }
  }

  /** What came back: chunks by number, and new ones. */
  leave(items: readonly (number | CompletionChunk)[]): Chunk[] {
    const out = items.map((item) => {
      const chunk = typeof item === 'number' ? this.#held.get(item) : undefined
      if (typeof item !== 'number' || !chunk) {
        this.#isAltered = true
        return Chunk.of(item as CompletionChunk)
      }
      this.#held.delete(item)
      this.#last = Math.max(this.#last, item)
      return chunk
    })
    const [oldest] = this.#held.keys()
    if (oldest !== undefined && oldest < this.#last) this.#isAltered = true
    return out
  }

  /** What is there and never came back; undefined when nobody can say what is missing. */
  putBack(): Chunk[] | undefined {
    if (this.#isAltered) return undefined
    const back = [...this.#held.values()]
    this.#held.clear()
    return back
  }
}

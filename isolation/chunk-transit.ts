import { Chunk } from '../kit/canonical/chunk.ts'
import type { CompletionChunk } from '../kit/canonical/forms.ts'
import { type GatewayError, internalError } from '../kit/errors.ts'
import { readable } from '../kit/readable.ts'
import { HookFault } from '../kit/work/hook-fault.ts'

/** A chunk as it crosses: the other side parses a provider's event, unless it was parsed before, or is several. */
interface ChunkView {
  /** The event's bytes, one a character: so they cross as one copy, whatever buffer they are a part of. */
  readonly raw?: string
  readonly data?: CompletionChunk
  readonly events: number
}

/** Chunks on their way to a worker, and the number of the first. */
export interface ChunkBatch {
  readonly first: number
  readonly chunks: readonly ChunkView[]
}

/** Chunks on their way back: those that came there by their numbers, and others. */
export type ChunkItems = readonly (number | CompletionChunk)[]

/** An answer cannot go on without the module that was changing it. */
export const lostMidway = (module: string): GatewayError =>
  internalError(`The module ${module} lost its worker while it was changing an answer.`, { module })

/** The chunks of an answer that are in a worker: those that come back as they went keep their bytes. */
export class ChunkTransit {
  /** By number, in the order in which they went. */
  readonly #held = new Map<number, Chunk>()
  #count = 0
  #last = -1
  #isAltered = false

  /** Takes a batch to the worker, which knows its chunks by their numbers. */
  leave(batch: readonly Chunk[]): ChunkBatch {
    const first = this.#count
    for (const chunk of batch) this.#held.set(this.#count++, chunk)
    return { first, chunks: batch.map(viewOf) }
  }

  /** The chunks that came back: by number, and new ones. */
  enter(items: ChunkItems): Chunk[] {
    const out = items.map((item) => {
      const chunk = typeof item === 'number' ? this.#held.get(item) : undefined
      if (typeof item !== 'number' || !chunk) {
        if (!Array.isArray((item as CompletionChunk | null)?.choices)) throw new HookFault('expected chunks')
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

  /** The chunks that never came back; undefined if it is not known what is missing. */
  putBack(): Chunk[] | undefined {
    if (this.#isAltered) return undefined
    const back = [...this.#held.values()]
    this.#held.clear()
    return back
  }
}

function viewOf(chunk: Chunk): ChunkView {
  const { raw, seen, events } = chunk
  const data = events > 1 ? readable(() => chunk.data) : seen
  return { events, ...(raw && { raw: raw.toString('latin1') }), ...(data && { data }) }
}

/** The other end of a transit, in the worker. */
export class ChunkArrivals {
  readonly #numbers = new WeakMap<Chunk, number>()

  enter({ first, chunks }: ChunkBatch): Chunk[] {
    return chunks.map(({ raw, data, events }, i) => {
      const bytes = Buffer.from(raw ?? '', 'latin1')
      const chunk = raw ? Chunk.fromBytes(bytes, data, undefined, events) : Chunk.of(data!, undefined, events)
      this.#numbers.set(chunk, first + i)
      return chunk
    })
  }

  /** Each chunk leaves by its number the first time, if it came here. */
  leave(batch: readonly Chunk[]): ChunkItems {
    return batch.map((chunk) => {
      const number = this.#numbers.get(chunk)
      this.#numbers.delete(chunk)
      return number ?? chunk.data
    })
  }
}

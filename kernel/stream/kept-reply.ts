import type { Chunk } from '../../kit/canonical/chunk.ts'
import type { Reply } from '../call/reply.ts'

type Batches = AsyncIterator<readonly Chunk[]>
type Step = IteratorResult<readonly Chunk[], unknown>

/**
 * An answer that can be given again from its beginning while it is kept, although its first reader has read a part
 * of its stream. A stream that is released before it is read costs nothing more.
 */
export class KeptReply {
  /** The answer, to be given. */
  readonly reply: Reply
  readonly #original: Reply
  /** The part of the stream that was read. */
  #steps: Promise<Step>[] = []
  #source: Batches | undefined
  #isKept = true
  #isLeft = false

  constructor(reply: Reply) {
    this.#original = reply
    this.reply =
      reply.kind === 'whole'
        ? reply
        : reply.through({ [Symbol.asyncIterator]: () => this.#read(reply.chunks) })
  }

  /** The answer again, for a reader that replaces the first one. */
  again(): Reply {
    const original = this.#original
    const source = this.#source
    if (original.kind === 'whole' || !source) return original
    const steps = this.#steps
    return original.through({
      [Symbol.asyncIterator]: () => ({
        next: () => steps.shift() ?? source.next(),
        return: () => leave(source),
      }),
    })
  }

  /** It is not needed again. */
  release(): void {
    this.#isKept = false
    this.#steps = []
    if (this.#isLeft && this.#source) leave(this.#source).catch(() => {})
  }

  #read(chunks: AsyncIterable<readonly Chunk[]>): Batches {
    if (!this.#isKept && !this.#source) return chunks[Symbol.asyncIterator]()
    this.#source ??= chunks[Symbol.asyncIterator]()
    const source = this.#source
    return {
      next: () => {
        const step = source.next()
        if (this.#isKept) this.#steps.push(step)
        return step
      },
      // While it is kept, another reader may still want the rest.
      return: async () => {
        this.#isLeft = true
        return this.#isKept ? over : leave(source)
      },
    }
  }
}

const over = { done: true, value: undefined } as const

async function leave(source: Batches): Promise<Step> {
  await source.return?.()
  return over
}

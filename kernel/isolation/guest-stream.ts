import type { CompletionChunk } from '../call/canonical.ts'
import { type Reply, StreamReply } from '../call/reply.ts'
import { detach } from '../contain.ts'
import type { Chunk } from '../stream/chunk.ts'
import { thrownOf } from '../workers/thrown.ts'
import { ChunkArrivals, type ChunkBatch } from './chunk-transit.ts'
import type { Passed } from './protocol.ts'

/**
 * A streamed answer passing through a module, batch by batch. The module's side pulls: when it asks for more than has come, the
 * chunks that it has let go by then are the answer to the batch.
 */
export class GuestStream {
  readonly #arrivals = new ChunkArrivals()
  #next: PromiseWithResolvers<readonly Chunk[] | undefined> | undefined
  #starved = Promise.withResolvers<void>()
  #passed: (number | CompletionChunk)[] = []
  #over: Passed['over']
  #thrown: Passed['thrown']

  /** `step` is what the module does to answers; it may leave this one alone. */
  static async begin(step: (reply: Reply) => Reply | Promise<Reply>): Promise<GuestStream> {
    const stream = new GuestStream()
    const source = new StreamReply('', stream.#source())
    const through = await step(source)
    if (through === source || through.kind === 'whole') stream.#over = 'untouched'
    else detach('a stream of a module', stream.#pump(through))
    return stream
  }

  /** Takes a batch; resolves with what may leave. */
  async push(batch: ChunkBatch, end: boolean): Promise<Passed> {
    if (this.#over !== 'untouched') {
      await this.#starved.promise
      if (batch.chunks.length > 0) await this.#feed(this.#arrivals.enter(batch))
      if (end) await this.#feed(undefined)
    }
    const passed = {
      chunks: this.#passed,
      ...(this.#over && { over: this.#over }),
      ...(this.#thrown && { thrown: this.#thrown }),
    }
    this.#passed = []
    return passed
  }

  /** The rest is not needed: the stream breaks off without an end. */
  drop(): void {
    this.#next?.reject(new Error('the rest is not needed'))
  }

  #feed(batch: readonly Chunk[] | undefined): Promise<void> {
    if (this.#over) return Promise.resolve()
    this.#starved = Promise.withResolvers()
    this.#next?.resolve(batch)
    return this.#starved.promise
  }

  async *#source(): AsyncGenerator<readonly Chunk[]> {
    for (;;) {
      this.#next = Promise.withResolvers()
      this.#starved.resolve()
      const batch = await this.#next.promise
      if (!batch) return
      yield batch
    }
  }

  async #pump({ chunks }: StreamReply): Promise<void> {
    try {
      for await (const batch of chunks)
        for (const chunk of batch) this.#passed.push(this.#arrivals.leave(chunk))
    } catch (error) {
      this.#thrown = thrownOf(error)
    }
    this.#over = 'ended'
    this.#starved.resolve()
  }
}

import type { Call } from '../../call/call.ts'
import type { CompletionChunk } from '../../call/canonical.ts'
import { StreamReply } from '../../call/reply.ts'
import type { Entry } from '../../chain/entry.ts'
import { rewritten } from '../../chain/rewrite.ts'
import { Chunk } from '../../stream/chunk.ts'
import type { Passed } from './messages.ts'
import { thrownOf } from './thrown.ts'

/**
 * A streamed answer passing through a module, batch by batch. The module's side pulls: when it asks for more than has
 * come, what it let go of until then is the answer to the batch.
 */
export class GuestStream {
  readonly #numbers = new Map<Chunk, number>()
  #came = 0
  #next: PromiseWithResolvers<readonly Chunk[] | undefined> | undefined
  #starved = Promise.withResolvers<void>()
  #passed: (number | CompletionChunk)[] = []
  #over: Passed['over']
  #thrown: Passed['thrown']

  static async begin(entry: Entry, call: Call): Promise<GuestStream> {
    const stream = new GuestStream()
    const source = new StreamReply('', stream.#source())
    const through = await rewritten(source, [entry], call)
    if (through === source || through.kind === 'whole') stream.#over = 'untouched'
    else void stream.#pump(through)
    return stream
  }

  /** Takes a batch; resolves with what may leave. */
  async push(chunks: readonly CompletionChunk[], end: boolean): Promise<Passed> {
    if (this.#over !== 'untouched') {
      await this.#starved.promise
      if (chunks.length > 0) await this.#feed(chunks.map((data) => this.#numbered(data)))
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

  /** Nobody wants the rest. */
  drop(): void {
    this.#next?.resolve(undefined)
  }

  #feed(batch: readonly Chunk[] | undefined): Promise<void> {
    if (this.#over) return Promise.resolve()
    this.#starved = Promise.withResolvers()
    this.#next?.resolve(batch)
    return this.#starved.promise
  }

  #numbered(data: CompletionChunk): Chunk {
    const chunk = Chunk.of(data)
    this.#numbers.set(chunk, this.#came)
    this.#came += 1
    return chunk
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
      for await (const batch of chunks) for (const chunk of batch) this.#pass(chunk)
    } catch (error) {
      this.#thrown = thrownOf(error)
    }
    this.#over = 'ended'
    this.#starved.resolve()
  }

  #pass(chunk: Chunk): void {
    const number = this.#numbers.get(chunk)
    this.#numbers.delete(chunk)
    this.#passed.push(number ?? chunk.data)
  }
}

import type { Call } from '../call/call.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import type { Hooks } from '../chain/hooks.ts'
import { checkedReply } from '../chain/returned.ts'
import type { Chunk } from '../stream/chunk.ts'
import type { ChunkBatch } from './chunk-view.ts'
import type { GuestAsks } from './guest-asks.ts'
import type { GuestCall, GuestCalls } from './guest-calls.ts'
import { Arrivals } from './guest-stream.ts'
import type { Given, Made, Pulled } from './messages.ts'

interface Parts {
  readonly call: Call
  readonly known: GuestCall
  readonly calls: GuestCalls
  readonly asks: GuestAsks
}

/** One run of a module's `around`: what is inside it is asked for, and streams cross as they are read. */
export class GuestAround {
  readonly #run: number
  readonly #parts: Parts
  readonly #arrivals = new Arrivals()
  /** Answers that came from inside, by the number that they have there. */
  readonly #given = new Map<Reply, number>()
  readonly #begun = new Set<Reply>()
  /** Streams that the module answers with. */
  readonly #made: AsyncIterator<readonly Chunk[]>[] = []

  constructor(run: number, parts: Parts) {
    this.#run = run
    this.#parts = parts
  }

  /** Resolves with what the module answers. */
  async reply(around: NonNullable<Hooks['around']>): Promise<Made> {
    const reply = checkedReply(await around(this.#parts.call, (to) => this.#next(to)))
    const given = this.#given.get(reply)
    if (given !== undefined && !this.#begun.has(reply)) return { given }
    if (reply.kind === 'whole') return { body: reply.body }
    const stream = this.#made.push(reply.chunks[Symbol.asyncIterator]()) - 1
    return { stream, wire: reply.wire }
  }

  /** The next batch of a stream that the module answers with. */
  async pull(stream: number): Promise<Pulled> {
    const step = await this.#made[stream]!.next()
    return step.done
      ? { chunks: [], isOver: true }
      : { chunks: step.value.map((chunk) => this.#arrivals.leaving(chunk)), isOver: false }
  }

  /** Nobody wants the rest of such a stream. */
  async release(stream: number): Promise<void> {
    await this.#made[stream]!.return?.()
  }

  async #next(to: Call): Promise<Reply> {
    const { call, known, calls, asks } = this.#parts
    const change = calls.changeOf(call, to)
    const trace = known.parts.next(false)
    const given = (await asks.ask({ ask: 'next', run: this.#run, change, trace }, { known })) as Given
    const reply =
      'body' in given ? WholeReply.of(given.body) : new StreamReply(given.wire, this.#read(given.reply))
    this.#given.set(reply, given.reply)
    return reply
  }

  /** A stream from inside, asked for batch by batch. */
  #read(reply: number): AsyncIterable<readonly Chunk[]> {
    const { asks, known } = this.#parts
    const ask = (what: 'pull' | 'release') => asks.ask({ ask: what, run: this.#run, reply }, { known })
    const iterator: AsyncIterator<readonly Chunk[]> = {
      next: async () => {
        const batch = (await ask('pull')) as ChunkBatch | undefined
        if (!batch) return { done: true, value: undefined }
        return { done: false, value: this.#arrivals.arrived(batch) }
      },
      return: async () => {
        await ask('release')
        return { done: true, value: undefined }
      },
    }
    return {
      [Symbol.asyncIterator]: () => {
        for (const [given, number] of this.#given) if (number === reply) this.#begun.add(given)
        return iterator
      },
    }
  }
}

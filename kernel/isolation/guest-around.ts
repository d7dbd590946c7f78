import type { Call } from '../call/call.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import type { Hooks } from '../chain/hooks.ts'
import { checkedReply } from '../chain/returned.ts'
import type { Chunk } from '../stream/chunk.ts'
import { ChunkArrivals } from './chunk-transit.ts'
import type { GuestCall, GuestCalls, Host } from './guest-calls.ts'
import type { Answered, AroundRun, Made, Passed } from './protocol.ts'

interface Parts {
  readonly call: Call
  readonly known: GuestCall
  readonly calls: GuestCalls
  readonly host: Host
}

/** One run of a module's `around`: what is inside it is asked for, and streams cross as they are read. */
export class GuestAround {
  readonly #at: AroundRun
  readonly #parts: Parts
  readonly #arrivals = new ChunkArrivals()
  /** Answers that came from inside, by the number that they have there. */
  readonly #given = new Map<Reply, number>()
  readonly #begun = new Set<Reply>()
  /** Streams that the module answers with. */
  readonly #made: AsyncIterator<readonly Chunk[]>[] = []

  constructor(run: number, parts: Parts) {
    this.#at = { of: parts.call.id, run }
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
  async pull(stream: number): Promise<Passed> {
    const { done, value } = await this.#made[stream]!.next()
    if (done) return { chunks: [], over: 'ended' }
    return { chunks: value.map((chunk) => this.#arrivals.leave(chunk)) }
  }

  /** The rest of such a stream is not needed. */
  async release(stream: number): Promise<void> {
    await this.#made[stream]!.return?.()
  }

  async #next(to: Call): Promise<Reply> {
    const { call, known, calls, host } = this.#parts
    const asked = { ...this.#at, change: calls.changeOf(call, to), trace: known.trace.takePart(false) }
    const given = this.#answer(await host.call('next', asked))!
    const reply =
      'body' in given ? WholeReply.of(given.body) : new StreamReply(given.wire, this.#read(given.reply))
    this.#given.set(reply, given.reply)
    return reply
  }

  /** The answer, after the changes of the call are taken over. */
  #answer<T>({ value, thrown, news }: Answered<T>): T | undefined {
    const { known } = this.#parts
    if (news) known.trace.follow(news)
    if (thrown) throw known.errors.errorOf(thrown)
    return value
  }

  /** A stream from inside, asked for batch by batch. */
  #read(stream: number): AsyncIterable<readonly Chunk[]> {
    const { host } = this.#parts
    const at = { ...this.#at, stream }
    const iterator: AsyncIterator<readonly Chunk[]> = {
      next: async () => {
        const batch = this.#answer(await host.call('pull', at))
        return batch ? { done: false, value: this.#arrivals.enter(batch) } : { done: true, value: undefined }
      },
      return: async () => {
        this.#answer(await host.call('release', at))
        return { done: true, value: undefined }
      },
    }
    return {
      [Symbol.asyncIterator]: () => {
        for (const [given, number] of this.#given) if (number === stream) this.#begun.add(given)
        return iterator
      },
    }
  }
}

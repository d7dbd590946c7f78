import { type Reply, StreamReply, WholeReply } from '../kernel/call/reply.ts'
import type { Chunk } from '../kit/canonical/chunk.ts'
import { HookFault } from '../kit/work/hook-fault.ts'
import { Numbered, type Side } from './numbered.ts'
import type { ReplyView } from './protocol.ts'

type Batch = readonly Chunk[]

/** How batches of one side cross to the other, and back. */
interface Crossing<Ours, Theirs> {
  leave(batch: Batch): Ours
  enter(batch: Theirs): Batch
}

const over = { done: true, value: undefined } as const

/**
 * The answers that cross, in both directions, in one run of a module; an end of it is on each side. A body crosses at once, and a
 * stream batch by batch as the other side reads it. An answer that crosses back unread is the very same one there.
 */
export abstract class Passage<Ours, Theirs> {
  readonly #replies: Numbered<Reply>
  readonly #crossing: Crossing<Ours, Theirs>
  /** Of the streams that the other side has begun to read, by number. */
  protected readonly readers = new Map<number, AsyncIterator<Batch>>()

  constructor(side: Side, crossing: Crossing<Ours, Theirs>) {
    this.#replies = new Numbered(side)
    this.#crossing = crossing
  }

  /** An answer as it crosses. */
  view(reply: Reply): ReplyView {
    const isKnown = this.#replies.has(reply)
    const number = this.#replies.numberOf(reply)
    if (isKnown) return { reply: number }
    return reply.kind === 'whole' ? { reply: number, body: reply.body } : { reply: number, wire: reply.wire }
  }

  /** The answer of a view. */
  replyOf({ reply, body, wire = '' }: ReplyView): Reply {
    const known = this.#replies.get(reply)
    if (known) return known
    return this.#replies.set(reply, body ? WholeReply.of(body) : new StreamReply(wire, this.#far(reply)))
  }

  /** The next batch of a stream of ours; undefined at its end, and when it is left before. */
  async read(stream: number, isLeft = false): Promise<Ours | undefined> {
    const reply = this.#replies.get(stream)
    if (reply?.kind !== 'stream') throw new HookFault('there is no such stream')
    const reader = this.readers.get(stream) ?? reply.chunks[Symbol.asyncIterator]()
    this.readers.set(stream, reader)
    const { done, value } = isLeft ? ((await reader.return?.()) ?? over) : await reader.next()
    return done ? undefined : this.#crossing.leave(value)
  }

  /** Asks the other side to `read` a stream of theirs. */
  protected abstract ask(stream: number, isLeft: boolean): Promise<Theirs | undefined>

  /** A stream of theirs. One that was begun is no longer what came, and crosses back as another. */
  #far(stream: number): AsyncIterable<Batch> {
    const step = async (isLeft: boolean): Promise<IteratorResult<Batch, undefined>> => {
      const batch = await this.ask(stream, isLeft)
      return batch === undefined ? over : { done: false, value: this.#crossing.enter(batch) }
    }
    return {
      [Symbol.asyncIterator]: () => {
        this.#replies.forget(stream)
        return { next: () => step(false), return: () => step(true) }
      },
    }
  }
}

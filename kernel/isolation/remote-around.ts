import type { Call } from '../call/call.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import type { Next } from '../chain/hooks.ts'
import type { Chunk } from '../stream/chunk.ts'
import type { CallChange } from './call-view.ts'
import type { ChunkBatch } from './chunk-view.ts'
import { LentStreams } from './lent-streams.ts'
import type { Answer, Given, Job, Made, Pulled } from './messages.ts'
import type { KnownCall } from './remote-calls.ts'
import { changedCall } from './remote-hooks.ts'
import type { RemoteModule } from './remote-module.ts'
import { addPart, type TracePart } from './trace-part.ts'
import type { TraceView } from './trace-view.ts'
import { lostMidway } from './transit.ts'
import { WorkerLost } from './worker-host.ts'

/** One run of an `around` in a worker: makes the calls that it asks for, and reads streams for it as it reads them. */
export class RemoteAround {
  readonly known: KnownCall
  readonly #module: RemoteModule
  readonly #run: number
  readonly #call: Call
  readonly #next: Next
  readonly #given: Reply[] = []
  readonly #streams = new LentStreams()
  readonly #born: number

  constructor(module: RemoteModule, run: number, known: KnownCall, call: Call, next: Next) {
    this.#module = module
    this.#run = run
    this.known = known
    this.#call = call
    this.#next = next
    this.#born = module.born
  }

  /** Resolves with what the module answers; rejects with what it throws. */
  async reply(): Promise<Reply> {
    const made = (await this.#module.run(this.#call, (view) => {
      return { do: 'around', call: view, run: this.#run }
    })) as Made
    if ('given' in made) return this.#given[made.given]!
    return 'body' in made ? WholeReply.of(made.body) : new StreamReply(made.wire, this.#read(made.stream))
  }

  /** Makes a call that the module asks for; what the call has been through comes with its answer. */
  async next(change: CallChange, part: TracePart | undefined): Promise<Answer> {
    const { trace } = this.#call
    const { errors, news } = this.known
    if (part) addPart(trace, part)
    try {
      const reply = await this.#next(changedCall(this.#module, this.#call, change))
      const value = this.#give(reply)
      return { value, ...newsOf(news.of(trace, errors)) }
    } catch (error) {
      return { thrown: errors.thrownOf(error), ...newsOf(news.of(trace, errors)) }
    }
  }

  /** The next batch of a stream that the module was given; undefined at its end. */
  pull(reply: number): Promise<ChunkBatch | undefined> {
    return this.#streams.read(this.#given[reply] as StreamReply)
  }

  /** The module does not want the rest of such a stream. */
  release(reply: number): Promise<void> {
    return this.#streams.leave(this.#given[reply] as StreamReply)
  }

  #give(reply: Reply): Given {
    const number = this.#given.push(reply) - 1
    return reply.kind === 'whole' ? { reply: number, body: reply.body } : { reply: number, wire: reply.wire }
  }

  /** A stream that the module answers with. When its worker is lost the stream goes on without it, if that can be. */
  async *#read(stream: number): AsyncGenerator<readonly Chunk[]> {
    const { calls } = this.#module
    const known = calls.enter(this.#call)
    let isOpen = true
    try {
      for (;;) {
        const { chunks, isOver } = (await this.#ask({
          do: 'pull',
          of: known.call.id,
          run: this.#run,
          stream,
        })) as Pulled
        isOpen = !isOver
        const out = this.#streams.back(chunks)
        if (out.length > 0) yield out
        if (isOver) return
      }
    } catch (error) {
      isOpen = false
      if (!(error instanceof WorkerLost)) throw error
      yield* await this.#rest()
    } finally {
      if (isOpen)
        await this.#ask({ do: 'release', of: known.call.id, run: this.#run, stream }).catch(() => {})
      calls.leave(known)
    }
  }

  #ask(job: Job): Promise<unknown> {
    if (this.#born !== this.#module.born)
      throw new WorkerLost('its worker was lost in the middle of a stream')
    return this.#module.send(this.#call, () => job)
  }

  async #rest(): Promise<AsyncIterable<readonly Chunk[]>> {
    const { id, failure } = this.#module
    const rest = failure === 'open' ? await this.#streams.rest() : undefined
    if (rest) return rest
    throw lostMidway(id)
  }
}

const newsOf = (news: TraceView | undefined) => (news ? { news } : {})

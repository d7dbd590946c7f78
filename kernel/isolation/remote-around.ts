import type { Call } from '../call/call.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import type { Next } from '../chain/hooks.ts'
import type { Chunk } from '../stream/chunk.ts'
import { WorkerLost } from '../workers/supervision.ts'
import type { CallChange } from './call-view.ts'
import { type ChunkBatch, lostMidway } from './chunk-transit.ts'
import type { Answered, Done, Given } from './protocol.ts'
import type { RemoteCall } from './remote-calls.ts'
import type { RemoteModule } from './remote-module.ts'
import { StreamHandles } from './stream-handles.ts'
import { addPart, type TracePart, viewOfTrace } from './trace-sync.ts'

/** One run of an `around` in a worker: makes the calls that it asks for, and reads streams for it as it reads them. */
export class RemoteAround {
  readonly #module: RemoteModule
  readonly #known: RemoteCall
  readonly #run: number
  readonly #call: Call
  readonly #next: Next
  readonly #given: Reply[] = []
  readonly #streams = new StreamHandles()
  /** The worker of the module that it runs in. */
  readonly #worker: number

  constructor(module: RemoteModule, known: RemoteCall, call: Call, next: Next) {
    this.#module = module
    this.#known = known
    this.#call = call
    this.#next = next
    this.#worker = module.worker.starts
    this.#run = known.arounds.size + 1
    known.arounds.set(this.#run, this)
  }

  /** Resolves with what the module answers; rejects with what it throws. */
  async reply(): Promise<Reply> {
    const made = await this.#module.run('around', this.#call, () => ({
      run: this.#run,
      varies: this.#call.trace.chain?.variesIn?.(this.#call, 'cache'),
    }))
    if ('given' in made) return this.#given[made.given]!
    return 'body' in made ? WholeReply.of(made.body) : new StreamReply(made.wire, this.#read(made.stream))
  }

  /** Makes a call that the module asks for; the history of the call comes with its answer. */
  async next(change: CallChange, part: TracePart | undefined): Promise<Answered<Given>> {
    const { trace } = this.#call
    const known = this.#known
    if (part) addPart(part, known, false)
    try {
      const reply = await this.#next(this.#module.calls.changed(this.#call, change))
      const number = this.#given.push(reply) - 1
      const value =
        reply.kind === 'whole' ? { reply: number, body: reply.body } : { reply: number, wire: reply.wire }
      return { value, news: viewOfTrace(trace, known) }
    } catch (error) {
      return { thrown: known.errors.thrownOf(error), news: viewOfTrace(trace, known) }
    }
  }

  /** The next batch of a stream that the module was given; undefined at its end. */
  pull(stream: number): Promise<Answered<ChunkBatch | undefined>> {
    return this.#answer(() => this.#streams.read(this.#given[stream] as StreamReply))
  }

  /** The module does not want the rest of such a stream. */
  release(stream: number): Promise<Answered<void>> {
    return this.#answer(() => this.#streams.release(this.#given[stream] as StreamReply))
  }

  async #answer<T>(read: () => Promise<T>): Promise<Answered<T>> {
    try {
      return { value: await read() }
    } catch (error) {
      return { thrown: this.#known.errors.thrownOf(error) }
    }
  }

  /** A stream that the module answers with. When its worker is lost the stream goes on without it, if that can be. */
  async *#read(stream: number): AsyncGenerator<readonly Chunk[]> {
    const { calls, worker } = this.#module
    const known = calls.enter(this.#call)
    const at = { of: known.id, run: this.#run, stream }
    let isOpen = true
    try {
      for (;;) {
        const { chunks, over } = await this.#ask(() => worker.call('pull', at))
        isOpen = over === undefined
        const out = this.#streams.leave(chunks)
        if (out.length > 0) yield out
        if (over) return
      }
    } catch (error) {
      isOpen = false
      if (!(error instanceof WorkerLost)) throw error
      yield* await this.#rest()
    } finally {
      if (isOpen) await this.#ask(() => worker.call('release', at)).catch(() => {})
      calls.leave(known)
    }
  }

  #ask<T>(ask: () => Promise<Done<T>>): Promise<T> {
    if (this.#worker !== this.#module.worker.starts) throw new WorkerLost('in the middle of a stream')
    return this.#module.ask(this.#call, ask)
  }

  async #rest(): Promise<AsyncIterable<readonly Chunk[]>> {
    const { id, failure } = this.#module
    const rest = failure === 'open' ? await this.#streams.rest() : undefined
    if (rest) return rest
    throw lostMidway(id)
  }
}

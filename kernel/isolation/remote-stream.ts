import type { Call } from '../call/call.ts'
import { type Reply, WholeReply } from '../call/reply.ts'
import { BatchFilter, BatchReveal } from '../chain/batches.ts'
import { type Entry, handleFailure, recordRun } from '../chain/entry.ts'
import { checkedBody } from '../chain/returned.ts'
import type { Chunk } from '../stream/chunk.ts'
import { WorkerLost } from '../workers/supervision.ts'
import { errorOf } from '../workers/thrown.ts'
import { type ChunkBatch, ChunkTransit, lostMidway } from './chunk-transit.ts'
import type { Passed } from './protocol.ts'
import type { RemoteModule } from './remote-module.ts'

/** A filter that is in a worker: takes the whole batches of one answer, one at a time. */
export class RemoteStream extends BatchFilter {
  readonly #module: RemoteModule
  readonly #call: Call
  readonly #reveals: boolean
  readonly #hook: string
  readonly #pipe: number
  readonly #transit = new ChunkTransit()
  /** The worker of the module that it goes through, and no other: another does not know the chunks that a lost one held. */
  #worker: number | undefined
  /** Whether the worker waits for more. */
  #isOpen = true
  #ms = 0

  /** `reveals`: it shows the client text that nothing else gets to see. */
  constructor(module: RemoteModule, call: Call, reveals = false) {
    super()
    this.#module = module
    this.#call = call
    this.#reveals = reveals
    this.#hook = reveals ? 'reveal' : 'stream'
    this.#pipe = module.nextPipe()
  }

  /**
   * The chunks as the module lets them go on. When its worker is lost the stream goes on without it, as long as all
   * that was taken out can still be put back; else it ends with an error.
   */
  async *through(chunks: AsyncIterable<readonly Chunk[]>, entry: Entry): AsyncGenerator<readonly Chunk[]> {
    const { calls } = this.#module
    const known = calls.enter(this.#call)
    try {
      for await (const batch of chunks) {
        if (!this.#isOpen) yield batch
        else if (yield* this.#pass(batch, false, entry)) return
      }
      if (this.#isOpen) yield* this.#pass([], true, entry)
    } finally {
      await this.#drop()
      calls.leave(known)
      recordRun(entry, this.#hook, this.#ms, this.#call)
    }
  }

  /**
   * Gives the module a batch, and lets the chunks leave that it lets go; without the module, those that it held. Whether it
   * ended the answer.
   */
  async *#pass(
    batch: readonly Chunk[],
    end: boolean,
    entry: Entry,
  ): AsyncGenerator<readonly Chunk[], boolean> {
    let passed: Passed | undefined
    const started = performance.now()
    try {
      passed = await entry.meter.deadlines.within(this.#ask(this.#transit.enter(batch), end))
    } catch (error) {
      handleFailure(entry, this.#hook, error, this.#call)
    } finally {
      this.#ms += performance.now() - started
    }
    this.#isOpen = !end && passed !== undefined && passed.over === undefined
    const isPassed = passed !== undefined && passed.over !== 'untouched'
    const out = isPassed ? this.#transit.leave(passed!.chunks) : this.#transit.putBack()
    if (!out) throw lostMidway(entry.id)
    if (out.length > 0) yield out
    if (passed?.thrown) handleFailure(entry, this.#hook, errorOf(passed.thrown), this.#call)
    return passed?.over === 'ended'
  }

  async #ask(batch: ChunkBatch, end: boolean): Promise<Passed> {
    if (this.#isLost) throw new WorkerLost('in the middle of a stream')
    const { calls, worker } = this.#module
    await this.#module.started()
    const isFirst = this.#worker === undefined
    this.#worker = worker.starts
    return this.#module.ask(this.#call, (known) => {
      const begin = isFirst ? { call: calls.view(this.#call, known), reveals: this.#reveals } : undefined
      return worker.call('stream', { of: known.id, pipe: this.#pipe, batch, end, begin })
    })
  }

  /** Tells the worker that the rest it waits for is not needed. Never rejects. */
  async #drop(): Promise<void> {
    if (!this.#isOpen || this.#worker === undefined || this.#isLost) return
    const { worker } = this.#module
    const at = { of: this.#call.id, pipe: this.#pipe }
    await this.#module.ask(this.#call, () => worker.call('drop', at)).catch(() => {})
  }

  get #isLost(): boolean {
    return this.#worker !== undefined && this.#worker !== this.#module.worker.starts
  }
}

/** A detection that is in a worker: takes whole answers and whole batches. */
export class RemoteReveal extends BatchReveal {
  readonly #module: RemoteModule

  constructor(module: RemoteModule) {
    super()
    this.#module = module
  }

  /** The answer with what the module reveals. */
  async through(reply: Reply, entry: Entry, call: Call): Promise<Reply> {
    if (reply.kind === 'stream')
      return reply.through(new RemoteStream(this.#module, call, true).through(reply.chunks, entry))
    const { body } = reply
    const started = performance.now()
    try {
      const shown = await entry.meter.deadlines.within(this.#module.run('reveal', call, () => ({ body })))
      return shown === undefined ? reply : WholeReply.of(checkedBody(shown, body))
    } catch (error) {
      handleFailure(entry, 'reveal', error, call)
      return reply
    } finally {
      recordRun(entry, 'reveal', performance.now() - started, call)
    }
  }
}

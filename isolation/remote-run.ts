import type { Call } from '../kernel/call/call.ts'
import type { Reply } from '../kernel/call/reply.ts'
import type { Batches } from '../kernel/chain/batches.ts'
import type { Next } from '../kernel/chain/hooks.ts'
import type { Chunk } from '../kit/canonical/chunk.ts'
import { detach } from '../kit/work/contain.ts'
import { HookFault } from '../kit/work/hook-fault.ts'
import type { Argument } from '../storage/shared/rpc-port.ts'
import { WorkerLost } from '../workers/supervision.ts'
import type { CallChange } from './call-view.ts'
import { type ChunkBatch, type ChunkItems, ChunkTransit, lostMidway } from './chunk-transit.ts'
import { Passage } from './passage.ts'
import type { CallHooks, Fed, ReplyView } from './protocol.ts'
import type { RemoteModule } from './remote-module.ts'

/** Called with what went wrong in a worker while it made a stream; throws if the stream must end. */
type Failed = (error: unknown) => void

/** One run of a module over an answer, seen from outside of its worker. */
export class RemoteRun extends Passage<ChunkBatch, ChunkItems> {
  readonly #module: RemoteModule
  protected readonly call: Call
  readonly #next: Next | undefined
  readonly #transit: ChunkTransit
  #run = 0
  /** The worker that it runs in, and no other: another does not know the chunks that a lost one held. */
  #worker: number | undefined
  /** What was read last for the module, and what broke that off. */
  #reading: Promise<unknown> | undefined
  #broken: unknown
  /** Whether the module has all that it wants of what is read for it. */
  protected isOver = false
  /** Whether the answer goes on without the module, which may still want to read. */
  #isGivenUp = false

  /** `next` is what is inside of an `around`. */
  constructor(module: RemoteModule, call: Call, next?: Next) {
    const transit = new ChunkTransit()
    super('host', transit)
    this.#transit = transit
    this.#module = module
    this.call = call
    this.#next = next
  }

  /**
   * Has the module run. Resolves with the answer that it makes, or one that it was given. A stream that it makes goes on without
   * it when it fails, as long as all that was taken out can be put back; `failed` hears why, and throws if the stream must end.
   */
  async begin<K extends 'around' | 'rewrite'>(
    hook: K,
    given: Omit<Argument<CallHooks[K]>, 'run'>,
    failed: Failed,
  ): Promise<Reply> {
    const view: ReplyView = await this.#module.run(hook, this.call, ({ runs }) => {
      this.#worker = this.#module.worker.starts
      this.#run = runs.size + 1
      runs.set(this.#run, this)
      return { ...given, run: this.#run } as Argument<CallHooks[K]>
    })
    const reply = this.replyOf(view)
    if (reply.kind === 'whole' || view.wire === undefined) return reply
    return reply.through(this.#guarded(reply.chunks, failed))
  }

  /** Makes a call that an `around` asks for. */
  async next(change: CallChange): Promise<ReplyView> {
    return this.view(await this.#next!(this.#module.calls.changed(this.call, change)))
  }

  override async read(stream: number, isLeft?: boolean): Promise<ChunkBatch | undefined> {
    if (this.#isGivenUp) throw new HookFault('the answer has gone on without the module')
    const reading = super.read(stream, isLeft)
    this.#reading = reading
    try {
      const batch = await reading
      this.isOver = batch === undefined
      return batch
    } catch (error) {
      this.#broken = error
      throw error
    }
  }

  protected async ask(stream: number, isLeft: boolean, fed?: Fed): Promise<ChunkItems | undefined> {
    const { worker } = this.#module
    if (!worker.isReady || worker.starts !== this.#worker)
      throw Object.assign(new WorkerLost('in the middle of a stream'), { isHeld: true })
    const at = { of: this.call.id, run: this.#run, stream, isLeft, fed }
    return this.#module.ask(this.call, () => worker.call('read', at))
  }

  async *#guarded(chunks: Batches, failed: Failed): AsyncGenerator<readonly Chunk[]> {
    const { calls } = this.#module
    const known = calls.enter(this.call)
    try {
      yield* chunks
    } catch (error) {
      if (error === this.#broken) throw error
      this.#isGivenUp = true
      failed(error)
      yield* this.#rest()
    } finally {
      calls.leave(known)
      const left = this.isOver ? [] : [...this.readers.values()]
      detach('the rest of a stream', Promise.all(left.map((reader) => reader.return?.())))
    }
  }

  /**
   * The rest of the one stream that was read, with every chunk that never came back. Throws when there is not exactly one, and when
   * it is not known which chunks are missing.
   */
  async *#rest(): AsyncGenerator<readonly Chunk[]> {
    const [reader, ...others] = this.readers.values()
    if (!reader || others.length > 0) throw lostMidway(this.#module.id)
    await this.#reading
    const back = this.#transit.putBack()
    if (!back) throw lostMidway(this.#module.id)
    if (back.length > 0) yield back
    if (!this.isOver) yield* { [Symbol.asyncIterator]: () => reader }
  }
}

import type { Call } from '../kernel/call/call.ts'
import type { Reply } from '../kernel/call/reply.ts'
import { ChunkArrivals, type ChunkBatch, type ChunkItems } from './chunk-transit.ts'
import type { GuestCall, GuestCalls, Host } from './guest-calls.ts'
import { Passage } from './passage.ts'
import type { Fed, Run } from './protocol.ts'

/** One run of a module over an answer, in its worker. */
export class GuestRun extends Passage<ChunkItems, ChunkBatch> {
  readonly #at: Run
  readonly #known: GuestCall
  readonly #host: Host
  /** Of a filter: the batch that it was given, or what takes it and lets the gateway know that it is waited for. */
  #fed: Fed | undefined
  #feed: ((batch: Fed['batch']) => void) | undefined
  #isHungry: ((nothing: ChunkItems) => void) | undefined
  #making: Promise<ChunkItems | undefined> | undefined

  constructor(run: number, known: GuestCall, host: Host) {
    super('guest', new ChunkArrivals())
    this.#at = { of: known.id, run }
    this.#known = known
    this.#host = host
    known.runs.set(run, this)
  }

  /** Runs what is inside of an `around`. */
  async next(call: Call, to: Call, calls: GuestCalls): Promise<Reply> {
    const asked = { ...this.#at, change: calls.changeOf(call, to), state: this.#known.state(false) }
    return this.replyOf(this.#known.taken(await this.#host.call('next', asked)))
  }

  /** What a filter makes of one more batch, as far as it goes without another. */
  feed(stream: number, fed: Fed): Promise<ChunkItems | undefined> {
    const hungry = Promise.withResolvers<ChunkItems>()
    this.#isHungry = hungry.resolve
    if (this.#feed) this.#feed(fed.batch)
    else this.#fed = fed
    this.#feed = undefined
    this.#making ??= this.read(stream).finally(() => {
      this.#making = undefined
    })
    return Promise.race([this.#making, hungry.promise])
  }

  protected async ask(stream: number, isLeft: boolean): Promise<ChunkBatch | undefined> {
    const fed = this.#fed
    if (!this.#isHungry || isLeft)
      return this.#known.taken(await this.#host.call('read', { ...this.#at, stream, isLeft }))
    this.#fed = undefined
    if (fed) return fed.batch
    this.#isHungry([])
    return new Promise((resolve) => {
      this.#feed = resolve
    })
  }
}

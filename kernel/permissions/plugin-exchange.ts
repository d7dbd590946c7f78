import type { Call } from '../call/call.ts'
import type { FinishReason } from '../call/canonical.ts'
import { Exchange, type Ground } from '../call/exchange.ts'
import { CallFirstContent, CallStarted } from '../call/outcome.ts'
import type { Reply, StreamReply } from '../call/reply.ts'
import type { SettlementParts } from '../call/settle.ts'
import { ClientGone, isGatewayError } from '../errors.ts'
import type { Chunk } from '../stream/chunk.ts'

interface Asked extends SettlementParts {
  readonly ground: Ground
  /** Makes the call, with a cancel of its own. */
  readonly make: () => Promise<Call>
  /** Any of them ends the call. */
  readonly signals: readonly (AbortSignal | undefined)[]
  /** Makes the reason that the call ends with when one of them aborts. */
  readonly left: () => Error
}

/** A call that a plugin makes: it is given the answer where a client has it written to its connection. */
export class PluginExchange extends Exchange {
  readonly #asked: Asked
  readonly #reply = Promise.withResolvers<Reply>()
  #status = 499
  #finishReason: FinishReason | undefined
  #chunks = 0

  constructor(asked: Asked) {
    super(asked.ground, asked)
    this.#asked = asked
    // A caller that only wants the outcome need not handle it.
    this.#reply.promise.catch(() => {})
  }

  /** The answer, once it is there; rejects with what there is instead. */
  get reply(): Promise<Reply> {
    return this.#reply.promise
  }

  protected async accept(): Promise<Call> {
    const { make, signals, left, events } = this.#asked
    const call = await make()
    const stop = (): void => call.cancel.abort(left())
    for (const signal of signals) {
      if (signal?.aborted) stop()
      signal?.addEventListener('abort', stop, { once: true })
    }
    call.cancel.onAbort(() => {
      for (const signal of signals) signal?.removeEventListener('abort', stop)
    })
    events.emit(CallStarted, { call }, { cause: call })
    call.cancel.check()
    return call
  }

  protected answer(reply: Reply, call: Call): void | Promise<void> {
    this.#status = 200
    if (reply.kind === 'whole') {
      call.trace.firstContentAt = performance.now()
      this.#reply.resolve(reply)
      return
    }
    const read = Promise.withResolvers<void>()
    // Also if the stream is not read.
    call.cancel.onAbort(read.reject)
    this.#reply.resolve(reply.through(this.#read(reply, call, read)))
    return read.promise
  }

  protected fail(error: unknown): void {
    if (this.#status !== 200 && !(error instanceof ClientGone))
      this.#status = isGatewayError(error) ? error.status : 500
    this.#reply.reject(error)
  }

  protected end() {
    return { status: this.#status, finishReason: this.#finishReason, chunks: this.#chunks }
  }

  /** A stream as the plugin reads it; one that it leaves ends the call. */
  async *#read(
    { chunks }: StreamReply,
    call: Call,
    read: PromiseWithResolvers<void>,
  ): AsyncGenerator<readonly Chunk[]> {
    try {
      for await (const batch of chunks) {
        call.cancel.check()
        if (this.#chunks === 0) {
          call.trace.firstContentAt = performance.now()
          this.#asked.events.emit(CallFirstContent, { call }, { cause: call })
        }
        this.#chunks += batch.length
        for (const { seen } of batch)
          for (const { finish_reason } of seen?.choices ?? [])
            if (finish_reason) this.#finishReason = finish_reason
        yield batch
      }
      call.cancel.check()
      read.resolve()
    } catch (error) {
      read.reject(error)
      throw error
    } finally {
      // After its end or a failure this says nothing.
      read.reject(new ClientGone())
    }
  }
}

import {
  type Call,
  CallFirstContent,
  CallStarted,
  type Chunk,
  ClientGone,
  Exchange,
  type FinishReason,
  type Ground,
  isGatewayError,
  type Outcome,
  type Reply,
  type SettlementParts,
  type StreamReply,
} from '#kernel'

/** A call to be made inside the process. */
export interface InnerCall extends SettlementParts {
  readonly ground: Ground
  /** Makes the call, with a cancel of its own; rejects with a refusal. */
  make(): Promise<Call>
  /** Any of them ends the call. */
  readonly signals: readonly (AbortSignal | undefined)[]
  /** Makes the reason that the call ends with when one of them aborts; without it, that its client has left. */
  left?(): Error
}

/**
 * Runs a call that has no connection: the caller in the process is given the answer, and the call is traced and settled like a
 * client's. `reply` rejects with the error that a client would get; `outcome` never rejects, and is undefined when the call was
 * not made. A stream must be read to its end or left.
 */
export function runInnerCall(asked: InnerCall): {
  readonly reply: Promise<Reply>
  readonly outcome: Promise<Outcome | undefined>
} {
  const exchange = new InnerExchange(asked)
  const outcome = exchange.run()
  return { reply: exchange.reply, outcome }
}

class InnerExchange extends Exchange {
  readonly #asked: InnerCall
  readonly #reply = Promise.withResolvers<Reply>()
  #status = 499
  #finishReason: FinishReason | undefined
  #chunks = 0

  constructor(asked: InnerCall) {
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
    const { signals, events } = this.#asked
    const call = await this.#asked.make()
    const stop = (): void => call.cancel.abort(this.#asked.left?.() ?? new ClientGone())
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

  /** A stream as its caller reads it; one that it leaves ends the call. */
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
        for (const { seen, events } of batch) {
          this.#chunks += events
          for (const { finish_reason } of seen?.choices ?? [])
            if (finish_reason) this.#finishReason = finish_reason
        }
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

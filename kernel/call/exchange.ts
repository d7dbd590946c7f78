import { readable } from '../../kit/readable.ts'
import type { Call } from './call.ts'
import type { Outcome, Served } from './outcome.ts'
import type { Reply, WholeReply } from './reply.ts'
import { type SettlementParts, type Settling, settle } from './settle.ts'

/** The arrangement that a call runs on, held from its beginning until it has settled. */
export interface Ground extends Settling {
  readonly chain: Settling['chain'] & {
    run(call: Call): Promise<Reply>
    reveal(reply: Reply, call: Call): Reply | Promise<Reply>
  }
  lease(): void
  release(): void
}

/** How it ended for the caller. */
type End = Pick<Served, 'status' | 'finishReason' | 'chunks'>

/**
 * One call from its beginning to its settlement, for a client over HTTP or for a plugin. The caller makes the call, is
 * given the answer or the error, and says how it ended.
 */
export abstract class Exchange {
  readonly #ground: Ground
  readonly #settlement: SettlementParts
  #call: Call | undefined

  constructor(ground: Ground, settlement: SettlementParts) {
    this.#ground = ground
    this.#settlement = settlement
  }

  /** Undefined while it has not been made. */
  protected get call(): Call | undefined {
    return this.#call
  }

  /** Makes the call; rejects with a refusal. */
  protected abstract accept(): Promise<Call>
  /** Gives the answer to the caller; rejects with the reason if it ended early. */
  protected abstract answer(reply: Reply, call: Call): void | Promise<void>
  /** Tells the caller that there is no answer, or no rest of one. Never throws. */
  protected abstract fail(error: unknown): void
  protected abstract end(failure: unknown): End

  /** Never rejects. Resolves when the call has settled, with its outcome; undefined when it was not made. */
  async run(): Promise<Outcome | undefined> {
    const { chain } = this.#ground
    this.#ground.lease()
    let failure: unknown
    let whole: WholeReply | undefined
    try {
      const call = await this.accept()
      this.#call = call
      const reply = await chain.run(call)
      if (reply.kind === 'whole') whole = reply
      const revealed = chain.reveal(reply, call)
      const answered = this.answer(revealed instanceof Promise ? await revealed : revealed, call)
      if (answered) await answered
    } catch (error) {
      failure = error
      this.fail(error)
    }
    try {
      // The others of a cohort answer their clients first, and all settle together.
      await Promise.resolve()
      return await this.#settle(failure, whole)
    } finally {
      this.#ground.release()
    }
  }

  #settle(error: unknown, whole: WholeReply | undefined): Promise<Outcome | undefined> | undefined {
    const call = this.#call
    if (!call) return undefined
    const { status, finishReason, chunks } = this.end(error)
    const body = whole ? () => whole.body : call.trace.body
    const served: Served = {
      status,
      error,
      finishReason: finishReason ?? readable(() => whole?.body.choices?.[0]?.finish_reason ?? undefined),
      chunks,
      body: body && (() => readable(body)),
      json: whole && (() => readable(() => whole.json)),
    }
    return settle(call, served, this.#ground, this.#settlement)
  }
}

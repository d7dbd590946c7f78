import type { Call } from '../../kernel/call/call.ts'
import type { Reply } from '../../kernel/call/reply.ts'
import type { Next } from '../../kernel/chain/hooks.ts'

/** Why a try ends whose answer is not wanted any more. */
const lost = new Error('another try of the same call has answered')

/** A call that is under way, and the part of the cancel that ends it alone. */
interface Try extends ReturnType<Call['cancel']['child']> {
  readonly n: number
}

/**
 * Several tries of one call at a time, of which the first to answer is taken. A plain answer counts when it is whole, a stream
 * with its first content. The others end then: their connections are closed, and what they have used stays in the trace.
 */
export class Race {
  readonly #call: Call
  readonly #next: Next
  readonly #running = new Set<Try>()
  /** By the place of the try among those that were begun. */
  readonly #failures: { readonly n: number; readonly error: unknown }[] = []
  readonly #result = Promise.withResolvers<Reply>()
  #begun = 0
  #isOver = false

  constructor(call: Call, next: Next) {
    this.#call = call
    this.#next = next
    this.#result.promise.catch(() => {})
  }

  /** The answer of the first try that has one. Rejects once all that were begun have failed, as the one begun first did. */
  get answer(): Promise<Reply> {
    return this.#result.promise
  }

  /** Whether there is an answer, or none can come any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Begins a try, unless the race is over. */
  begin(call: Call): void {
    if (this.#isOver) return
    this.#begun += 1
    const one = { n: this.#begun, ...this.#call.cancel.child() }
    this.#running.add(one)
    this.#next(call.with({ cancel: one.cancel })).then(
      (reply) => this.#answered(one, reply),
      (error: unknown) => this.#failed(one, error),
    )
  }

  #answered(one: Try, reply: Reply): void {
    if (this.#isOver) {
      leave(reply)
      return
    }
    this.#isOver = true
    this.#running.delete(one)
    for (const loser of this.#running) {
      loser.cancel.abort(lost)
      loser.release()
    }
    this.#result.resolve(reply)
  }

  #failed(one: Try, error: unknown): void {
    this.#running.delete(one)
    one.release()
    this.#failures.push({ n: one.n, error })
    if (this.#isOver || this.#running.size > 0) return
    this.#isOver = true
    this.#result.reject(this.#failures.reduce((a, b) => (a.n < b.n ? a : b)).error)
  }
}

/** Ends a stream that nobody reads: it is begun, because what has not begun has nothing to clean up. */
function leave(reply: Reply): void {
  if (reply.kind === 'whole') return
  const left = async (): Promise<void> => {
    for await (const _ of reply.chunks) return
  }
  left().catch(() => {})
}

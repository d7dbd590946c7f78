import type { Attempt } from '../kernel/call/attempt.ts'
import { Trace } from '../kernel/call/trace.ts'
import { readable } from '../kit/readable.ts'
import { type Addition, type AttemptView, additions, type TraceMarks, type TraceView } from './call-view.ts'
import type { GuestCall } from './guest-calls.ts'

/** A call's trace in the worker: follows the gateway's, and tells of what the module adds. */
export class GuestTrace extends Trace {
  readonly #known: GuestCall
  readonly #attempts = new Map<number, Attempt>()
  /** What the gateway knows: the answer from a cache, and the reasons of attempts by their numbers. */
  #cached: Trace['cached']
  readonly #reasons = new Map<number, string | undefined>()

  constructor(known: GuestCall, tell: (addition: Addition) => void) {
    super()
    this.#known = known
    for (const add of additions) {
      const own = this[add] as (...given: readonly unknown[]) => void
      const told = (...given: readonly unknown[]): void => {
        own.apply(this, given as [])
        tell({ add, given })
      }
      Object.assign(this, { [add]: told })
    }
  }

  /** The attempt of a view, the same object each time. */
  attemptOf({ number, error, usage, costUsd, ...rest }: AttemptView): Attempt {
    const attempt = Object.assign(this.#attempts.get(number) ?? { identity: {} }, rest, {
      error: error && (this.#known.errorOf(error) as Attempt['error']),
      usage: () => usage,
      ...(costUsd !== undefined && { costUsd: () => costUsd }),
    })
    this.#attempts.set(number, attempt)
    this.#reasons.set(number, rest.reasonNext)
    return attempt
  }

  /** Takes over the state of the gateway's. */
  follow({ attempts, served, cached, ...times }: TraceView): void {
    Object.assign(this, times)
    this.attempts.splice(0, this.attempts.length, ...attempts.map((view) => this.attemptOf(view)))
    const answered = served === undefined ? undefined : this.#attempts.get(served)
    if (answered) this.answeredBy(answered, false)
    if (cached) this.cached = this.#cached = cached
  }

  /** What is set here and the gateway does not know. `isOver`: the answer as it may be recorded is there. */
  marks(isOver: boolean): TraceMarks {
    const cached = this.cached === this.#cached ? undefined : this.cached
    this.#cached = this.cached
    const reasons: [number, string][] = []
    for (const [number, { reasonNext }] of this.#attempts) {
      if (reasonNext !== undefined && reasonNext !== this.#reasons.get(number))
        reasons.push([number, reasonNext])
      this.#reasons.set(number, reasonNext)
    }
    // A body that cannot be put together is not recorded.
    const body = isOver ? readable(() => this.body?.()) : undefined
    return { facts: this.facts, cached, reasons, body }
  }
}

import type { Completion } from '../kernel/call/canonical.ts'
import { type Attempt, Trace } from '../kernel/call/trace.ts'
import type { GuestCall } from './guest-calls.ts'
import type { CallThrown } from './protocol.ts'
import type { RemoteCall } from './remote-calls.ts'

/** A try at a provider as it crosses: what its functions answer by then, and a number that stands for its identity. */
export type AttemptView = Omit<Attempt, 'identity' | 'error' | 'usage' | 'counted' | 'costUsd' | 'came'> & {
  readonly number: number
  readonly error: CallThrown | undefined
  readonly usage: ReturnType<NonNullable<Attempt['usage']>>
  readonly costUsd: number | undefined
}

/** A call's trace, as far as the module in the worker gets to see it. */
export interface TraceView extends Pick<Trace, 'startedAt' | 'started' | 'firstContentAt' | 'cached'> {
  readonly attempts: readonly AttemptView[]
  /** The number of the attempt that answered. */
  readonly served: number | undefined
}

/** What a module in a worker has set in a call's trace. */
export interface TraceMarks extends Pick<Trace, 'facts' | 'cached'> {
  /** Why another attempt followed, by the number of the one before. */
  readonly reasons: readonly (readonly [attempt: number, reason: string])[]
  readonly body: Completion | undefined
}

/** The methods by which a module adds to a trace: the gateway runs them as well. */
const additions = ['addNote', 'finding', 'decide', 'changeParam', 'header'] as const

/** One use of such a method. */
export interface Addition {
  readonly add: (typeof additions)[number]
  readonly given: readonly unknown[]
}

export function viewOfAttempt(attempt: Attempt, known: RemoteCall): AttemptView {
  const { identity, error, usage, counted: _, came: __, costUsd, ...plain } = attempt
  const number = known.attempts.numberOf(identity)
  return { ...plain, number, error: error && known.thrownOf(error), usage: usage?.(), costUsd: costUsd?.() }
}

export function viewOfTrace(trace: Trace, known: RemoteCall): TraceView {
  const { startedAt, started, firstContentAt, cached, served } = trace
  const attempts = trace.attempts.map((attempt) => viewOfAttempt(attempt, known))
  const number = served && known.attempts.numberOf(served.identity)
  return { startedAt, started, firstContentAt, cached, attempts, served: number }
}

/** Adds to a trace as the module in the worker has added to its own. */
export function addTo(trace: Trace | undefined, { add, given }: Addition): void {
  if (trace && additions.includes(add)) (trace[add] as (...given: readonly unknown[]) => void)(...given)
}

/** Sets in a call's trace what the module in the worker has set. */
export function mark({ call: { trace }, attempts }: RemoteCall, marks: TraceMarks): void {
  const { facts, cached, reasons, body } = marks
  Object.assign(trace.facts, facts)
  if (cached) trace.cached = cached
  for (const [number, reason] of reasons) {
    const attempt = trace.attempts.find(({ identity }) => identity === attempts.get(number))
    if (attempt) attempt.reasonNext = reason
  }
  if (body) trace.body ??= () => body
}

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
    return { facts: this.facts, cached, reasons, body: isOver ? recorded(this.body) : undefined }
  }
}

/** A body that cannot be put together is not recorded. */
function recorded(body: Trace['body']): Completion | undefined {
  try {
    return body?.()
  } catch {
    return undefined
  }
}

import type { Attempt, Cached, Trace } from '../call/trace.ts'
import type { Usage } from '../call/usage.ts'
import type { CrossedErrors, Thrown } from './thrown.ts'

/** A try at a provider as it crosses: what its functions answer by then. */
export type AttemptView = Omit<Attempt, 'error' | 'usage' | 'counted' | 'costUsd'> & {
  readonly error: Thrown | undefined
  readonly usage: Usage | undefined
  readonly costUsd: number | undefined
}

/** What is new of a call's trace, as far as the module in the worker gets to see it. */
export interface TraceView {
  /** With the first view: when the call began. */
  readonly began?: Pick<Trace, 'startedAt' | 'started'>
  readonly attempts?: readonly AttemptView[]
  readonly cached?: Cached
  readonly firstContentAt?: number
}

/** The same clock runs on both sides, so the moment at which an attempt began tells which one it is. */
export const nameOf = ({ n, startedAt }: Pick<Attempt, 'n' | 'startedAt'>): string => `${n} ${startedAt}`

export function viewOfAttempt(attempt: Attempt, errors: CrossedErrors): AttemptView {
  const { n, provider, model, keyHint, startedAt, structuredOutput } = attempt
  const { status, latencyMs, error, reasonNext } = attempt
  return {
    n,
    provider,
    model,
    keyHint,
    startedAt,
    ...(structuredOutput && { structuredOutput }),
    status,
    latencyMs,
    error: error && errors.thrownOf(error),
    reasonNext,
    usage: attempt.usage?.(),
    costUsd: attempt.costUsd?.(),
  }
}

/** Tells what is new of one call's trace. */
export class TraceNews {
  readonly #told = new Map<string, Pick<Attempt, 'status' | 'latencyMs' | 'error' | 'reasonNext'>>()
  #hasBegun = false
  #cached: Cached | undefined
  #firstContentAt: number | undefined

  /** Undefined when nothing is new. `isOver`: what attempts used is known by now. */
  of(trace: Trace, errors: CrossedErrors, isOver = false): TraceView | undefined {
    const attempts = trace.attempts
      .filter((attempt) => isOver || this.#isNew(attempt))
      .map((attempt) => viewOfAttempt(attempt, errors))
    const { startedAt, started, cached, firstContentAt } = trace
    const news: TraceView = {
      ...(!this.#hasBegun && { began: { startedAt, started } }),
      ...(attempts.length > 0 && { attempts }),
      ...(cached !== undefined && cached !== this.#cached && { cached }),
      ...(firstContentAt !== undefined && firstContentAt !== this.#firstContentAt && { firstContentAt }),
    }
    this.#hasBegun = true
    this.#cached = cached
    this.#firstContentAt = firstContentAt
    for (const _ in news) return news
    return undefined
  }

  #isNew(attempt: Attempt): boolean {
    const { status, latencyMs, error, reasonNext } = attempt
    const told = this.#told.get(nameOf(attempt))
    const isKnown =
      told !== undefined &&
      told.status === status &&
      told.latencyMs === latencyMs &&
      told.error === error &&
      told.reasonNext === reasonNext
    if (!isKnown) this.#told.set(nameOf(attempt), { status, latencyMs, error, reasonNext })
    return !isKnown
  }
}

/** A trace in a worker, which follows its counterpart. */
export class TraceCopy {
  readonly #attempts = new Map<string, Attempt>()
  readonly #errors: CrossedErrors

  constructor(errors: CrossedErrors) {
    this.#errors = errors
  }

  /** The attempt of a view, the same object each time. */
  attemptOf({ error, usage, costUsd, ...rest }: AttemptView): Attempt {
    const now = {
      ...rest,
      error: error && (this.#errors.errorOf(error) as Attempt['error']),
      usage: () => usage,
      ...(costUsd !== undefined && { costUsd: () => costUsd }),
    }
    const known = this.#attempts.get(nameOf(rest))
    if (known) return Object.assign(known, now)
    this.#attempts.set(nameOf(rest), now)
    return now
  }

  follow(trace: Trace, { began, attempts = [], cached, firstContentAt }: TraceView): void {
    if (began) Object.assign(trace, began)
    for (const view of attempts) {
      const attempt = this.attemptOf(view)
      if (!trace.attempts.includes(attempt)) trace.attempts.push(attempt)
    }
    if (cached) trace.cached = cached
    if (firstContentAt !== undefined) trace.firstContentAt = firstContentAt
  }
}

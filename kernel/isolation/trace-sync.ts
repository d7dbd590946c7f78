import type { Completion } from '../call/canonical.ts'
import type { Attempt, Cached, Decision, Note, Trace } from '../call/trace.ts'
import type { CrossedErrors, Thrown } from './thrown.ts'

/** A try at a provider as it crosses: what its functions answer by then. */
export type AttemptView = Omit<Attempt, 'error' | 'usage' | 'counted' | 'costUsd'> & {
  readonly error: Thrown | undefined
  readonly usage: ReturnType<NonNullable<Attempt['usage']>>
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

/** What a module in a worker added to a call's trace. */
export interface TracePart {
  readonly notes: readonly Note[]
  readonly decisions: readonly Decision[]
  readonly paramsChanged: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly facts: Readonly<Record<string, unknown>>
  /** Why another attempt followed, by the name of the one before. */
  readonly reasons: Readonly<Record<string, string>>
  readonly cached?: Cached
  readonly body?: Completion
}

/** The same clock runs on both sides, so the moment at which an attempt began tells which one it is. */
const nameOf = ({ n, startedAt }: Pick<Attempt, 'n' | 'startedAt'>): string => `${n} ${startedAt}`

export function viewOfAttempt(attempt: Attempt, errors: CrossedErrors): AttemptView {
  const { error, usage, counted: _, costUsd, ...plain } = attempt
  return { ...plain, error: error && errors.thrownOf(error), usage: usage?.(), costUsd: costUsd?.() }
}

/** The gateway's end of one call's trace: tells what is new of it. */
export class TraceNews {
  readonly #told = new Map<string, Pick<Attempt, 'status' | 'latencyMs' | 'error' | 'reasonNext'>>()
  #hasBegun = false
  #cached: Cached | undefined
  #firstContentAt: number | undefined

  /** Undefined when nothing is new. `isOver`: what attempts used is known by now. */
  next(trace: Trace, errors: CrossedErrors, isOver = false): TraceView | undefined {
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

/** The worker's end of one call's trace: follows what happens to it, and tells what the module adds. */
export class TraceCopy {
  readonly #trace: Trace
  readonly #errors: CrossedErrors
  readonly #attempts = new Map<string, Attempt>()
  readonly #told = { notes: 0, decisions: 0, paramsChanged: 0 }
  readonly #headers: Record<string, string> = {}
  readonly #reasons: Record<string, string> = {}
  #cached: Cached | undefined

  constructor(trace: Trace, errors: CrossedErrors) {
    this.#trace = trace
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

  /** Takes over what happened; it is not told back. */
  follow({ began, attempts = [], cached, firstContentAt }: TraceView): void {
    const trace = this.#trace
    if (began) Object.assign(trace, began)
    for (const view of attempts) {
      const attempt = this.attemptOf(view)
      if (!trace.attempts.includes(attempt)) trace.attempts.push(attempt)
    }
    if (cached) trace.cached = cached
    if (firstContentAt !== undefined) trace.firstContentAt = firstContentAt
    Object.assign(this.#reasons, this.#reasonsNext())
    this.#cached = trace.cached
  }

  /** What was added since the last time; undefined when nothing was. `isOver`: the answer as it may be recorded is there. */
  next(isOver: boolean): TracePart | undefined {
    const { notes, decisions, paramsChanged, headers, facts, cached, body } = this.#trace
    const part = {
      notes: notes.slice(this.#told.notes),
      decisions: decisions.slice(this.#told.decisions),
      paramsChanged: paramsChanged.slice(this.#told.paramsChanged),
      headers: newOf(headers, this.#headers),
      facts,
      reasons: newOf(this.#reasonsNext(), this.#reasons),
    }
    Object.assign(this.#told, {
      notes: notes.length,
      decisions: decisions.length,
      paramsChanged: paramsChanged.length,
    })
    const found = cached === this.#cached ? undefined : cached
    const whole = isOver && body ? recorded(body) : undefined
    const isEmpty = Object.values(part).every((value) => Object.keys(value).length === 0)
    if (isEmpty && !found && !whole) return undefined
    this.#cached = cached
    return { ...part, ...(found && { cached: found }), ...(whole && { body: whole }) }
  }

  #reasonsNext(): Record<string, string> {
    const reasons: Record<string, string> = {}
    for (const attempt of this.#trace.attempts)
      if (attempt.reasonNext !== undefined) reasons[nameOf(attempt)] = attempt.reasonNext
    return reasons
  }
}

/** Adds to a trace what was added to its copy. */
export function addPart(trace: Trace, part: TracePart): void {
  for (const note of part.notes) trace.addNote(note)
  for (const decision of part.decisions) trace.decide(decision)
  for (const change of part.paramsChanged) trace.changeParam(change)
  for (const [name, value] of Object.entries(part.headers)) trace.header(name, value)
  Object.assign(trace.facts, part.facts)
  for (const attempt of trace.attempts)
    attempt.reasonNext = part.reasons[nameOf(attempt)] ?? attempt.reasonNext
  const { cached, body } = part
  if (cached) trace.cached = cached
  if (body) trace.body ??= () => body
}

/** What cannot be put together is not recorded. */
function recorded(body: NonNullable<Trace['body']>): Completion | undefined {
  try {
    return body()
  } catch {
    return undefined
  }
}

/** What differs from what was told before, which takes it in. */
function newOf(now: Readonly<Record<string, string>>, told: Record<string, string>): Record<string, string> {
  const fresh: Record<string, string> = {}
  for (const name in now) if (told[name] !== now[name]) fresh[name] = now[name]!
  return Object.assign(told, fresh) && fresh
}

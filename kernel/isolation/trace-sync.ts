import type { Completion } from '../call/canonical.ts'
import type { TraceFinding } from '../call/findings.ts'
import type { Attempt, Cached, Decision, Note, Trace } from '../call/trace.ts'
import type { CrossedErrors } from './crossing-call.ts'
import type { CallThrown } from './protocol.ts'

/** A try at a provider as it crosses: what its functions answer by then. */
export type AttemptView = Omit<Attempt, 'error' | 'usage' | 'counted' | 'costUsd' | 'came'> & {
  readonly error: CallThrown | undefined
  readonly usage: ReturnType<NonNullable<Attempt['usage']>>
  readonly costUsd: number | undefined
}

/** The news of a call's trace, as far as the module in the worker gets to see it. */
export interface TraceView {
  /** With the first view: when the call began. */
  readonly began?: Pick<Trace, 'startedAt' | 'started'>
  readonly attempts?: readonly AttemptView[]
  /** The attempt that answered, by its name. */
  readonly served?: string
  readonly cached?: Cached
  readonly firstContentAt?: number
}

/** The additions of a module in a worker to a call's trace. */
export interface TracePart {
  readonly notes?: readonly Note[]
  /** With so many of each as there were since. */
  readonly findings?: readonly TraceFinding[]
  readonly decisions?: readonly Decision[]
  readonly paramsChanged?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  readonly facts?: Readonly<Record<string, unknown>>
  /** Why another attempt followed, by the name of the one before. */
  readonly reasons?: Readonly<Record<string, string>>
  readonly cached?: Cached
  readonly body?: Completion
}

/** The same clock runs on both sides, so the moment at which an attempt began tells which one it is. */
const nameOf = ({ n, startedAt }: Pick<Attempt, 'n' | 'startedAt'>): string => `${n} ${startedAt}`

export function viewOfAttempt(attempt: Attempt, errors: CrossedErrors): AttemptView {
  const { error, usage, counted: _, came: __, costUsd, ...plain } = attempt
  return { ...plain, error: error && errors.thrownOf(error), usage: usage?.(), costUsd: costUsd?.() }
}

/** The gateway's end of one call's trace: sends what is new of it. */
export class TraceNews {
  readonly #sent = new Sent()

  /** Undefined when nothing is new. `isOver`: what attempts used is known by now. */
  next(trace: Trace, errors: CrossedErrors, isOver = false): TraceView | undefined {
    const { startedAt, started, cached, firstContentAt } = trace
    const isNew = (attempt: Attempt): boolean => {
      const { status, latencyMs, error, reasonNext } = attempt
      return this.#sent.isNew(nameOf(attempt), `${status} ${latencyMs} ${error !== undefined} ${reasonNext}`)
    }
    const attempts = trace.attempts.filter((attempt) => isNew(attempt) || isOver)
    return someOf<TraceView>({
      began: this.#sent.isNew('began', true) ? { startedAt, started } : undefined,
      attempts: attempts.map((attempt) => viewOfAttempt(attempt, errors)),
      served: trace.served && this.#sent.isNew('served', trace.served) ? nameOf(trace.served) : undefined,
      cached: this.#sent.isNew('cached', cached) ? cached : undefined,
      firstContentAt: this.#sent.isNew('firstContentAt', firstContentAt) ? firstContentAt : undefined,
    })
  }
}

/** The worker's end of one call's trace: follows what happens to it, and tells what the module adds. */
export class TraceCopy {
  readonly #trace: Trace
  readonly #errors: CrossedErrors
  readonly #attempts = new Map<string, Attempt>()
  readonly #sent = new Sent()

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

  /** Takes over the changes of the other side; they are not sent back. */
  follow({ began, attempts = [], served, cached, firstContentAt }: TraceView): void {
    const trace = this.#trace
    if (began) Object.assign(trace, began)
    for (const view of attempts) {
      const attempt = this.attemptOf(view)
      if (!trace.attempts.includes(attempt)) trace.attempts.push(attempt)
    }
    const answered = served === undefined ? undefined : this.#attempts.get(served)
    if (answered) trace.answeredBy(answered, false)
    if (cached) trace.cached = cached
    if (firstContentAt !== undefined) trace.firstContentAt = firstContentAt
    this.#sent.changesOf('reasons', this.#reasonsNext())
    this.#sent.isNew('cached', trace.cached)
  }

  /** The additions since the last time; undefined when there are none. `isOver`: the answer as it may be recorded is there. */
  next(isOver: boolean): TracePart | undefined {
    const { notes, findings, decisions, paramsChanged, headers, facts, cached, body } = this.#trace
    return someOf<TracePart>({
      notes: this.#sent.moreOf('notes', notes),
      findings: this.#newOf(findings),
      decisions: this.#sent.moreOf('decisions', decisions),
      paramsChanged: this.#sent.moreOf('paramsChanged', paramsChanged),
      headers: this.#sent.changesOf('headers', headers),
      facts,
      reasons: this.#sent.changesOf('reasons', this.#reasonsNext()),
      cached: this.#sent.isNew('cached', cached) ? cached : undefined,
      body: isOver && body ? recorded(body) : undefined,
    })
  }

  #newOf(findings: readonly TraceFinding[]): TraceFinding[] {
    return findings.flatMap((finding, i) => {
      const spans = this.#sent.moreOf(`spans ${i}`, finding.spans)
      const count = finding.count - this.#sent.numberOf(`finding ${i}`, finding.count)
      return count > 0 ? [{ ...finding, spans, count }] : []
    })
  }

  #reasonsNext(): Record<string, string> {
    const reasons: Record<string, string> = {}
    for (const attempt of this.#trace.attempts)
      if (attempt.reasonNext !== undefined) reasons[nameOf(attempt)] = attempt.reasonNext
    return reasons
  }
}

/** The values that one side has sent to the other, by name, of things that grow and change. */
class Sent {
  readonly #sent = new Map<string, unknown>()

  /** Whether it differs from the value that was sent last. */
  isNew(name: string, now: unknown): boolean {
    const isNew = this.#sent.get(name) !== now
    this.#sent.set(name, now)
    return isNew
  }

  /** The items of a list that were added since. */
  moreOf<T>(name: string, now: readonly T[]): readonly T[] {
    return now.slice(this.numberOf(name, now.length))
  }

  /** The number that was sent last; zero when there was none. */
  numberOf(name: string, now: number): number {
    const before = (this.#sent.get(name) ?? 0) as number
    this.#sent.set(name, now)
    return before
  }

  /** The entries of a record that are others since. */
  changesOf(name: string, now: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(now).filter(([key, value]) => this.isNew(`${name} ${key}`, value)),
    )
  }
}

/** Without what is absent or empty; undefined when nothing is left. */
function someOf<T>(all: { readonly [K in keyof T]: T[K] | undefined }): T | undefined {
  const isSome = ([, value]: [string, unknown]): boolean =>
    typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== undefined
  const some = Object.entries(all).filter(isSome)
  return some.length > 0 ? (Object.fromEntries(some) as T) : undefined
}

/** Adds to a trace what was added to its copy; of the notes, those that `isOwn` says are the module's own. */
export function addPart(trace: Trace, part: TracePart, isOwn: (note: Note) => boolean): void {
  const {
    notes = [],
    findings = [],
    decisions = [],
    paramsChanged = [],
    headers = {},
    facts,
    reasons = {},
    cached,
    body,
  } = part
  for (const note of notes.filter(isOwn)) trace.addNote(note)
  for (const { module, ...found } of findings) trace.finding(module, found)
  for (const decision of decisions) trace.decide(decision)
  for (const change of paramsChanged) trace.changeParam(change)
  for (const [name, value] of Object.entries(headers)) trace.header(name, value)
  Object.assign(trace.facts, facts)
  for (const attempt of trace.attempts) attempt.reasonNext = reasons[nameOf(attempt)] ?? attempt.reasonNext
  if (cached) trace.cached = cached
  if (body) trace.body ??= () => body
}

/** A body that cannot be put together is not recorded. */
function recorded(body: NonNullable<Trace['body']>): Completion | undefined {
  try {
    return body()
  } catch {
    return undefined
  }
}

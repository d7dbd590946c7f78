import type { Completion } from '../call/canonical.ts'
import type { SafetyFinding } from '../call/findings.ts'
import { type Attempt, type Decision, type Note, Trace } from '../call/trace.ts'
import type { CrossedErrors } from './crossing-call.ts'
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

type Added = Pick<Trace, 'notes' | 'findings' | 'decisions' | 'paramsChanged' | 'headers'>

/** The additions of a module in a worker to a call's trace. */
export interface TracePart extends Pick<Trace, 'facts' | 'cached'> {
  readonly added: Added | undefined
  /** Why another attempt followed, by the number of the one before. */
  readonly reasons: ReadonlyMap<number, string> | undefined
  readonly body: Completion | undefined
}

export function viewOfAttempt(attempt: Attempt, { errors, attempts }: RemoteCall): AttemptView {
  const { identity, error, usage, counted: _, came: __, costUsd, ...plain } = attempt
  const number = attempts.numberOf(identity)
  return { ...plain, number, error: error && errors.thrownOf(error), usage: usage?.(), costUsd: costUsd?.() }
}

export function viewOfTrace(trace: Trace, known: RemoteCall): TraceView {
  const { startedAt, started, firstContentAt, cached, served } = trace
  const attempts = trace.attempts.map((attempt) => viewOfAttempt(attempt, known))
  return {
    startedAt,
    started,
    firstContentAt,
    cached,
    attempts,
    served: served && known.attempts.numberOf(served.identity),
  }
}

/** A call's trace in the worker: follows the gateway's, and keeps what the module adds until that has crossed. */
export class GuestTrace extends Trace {
  readonly #errors: CrossedErrors
  /** By number, with the reason that the gateway knows. */
  readonly #attempts = new Map<number, { readonly attempt: Attempt; known: string | undefined }>()
  #added: Trace | undefined
  #cached: Trace['cached']

  constructor(errors: CrossedErrors) {
    super()
    this.#errors = errors
  }

  /** The attempt of a view, the same object each time. */
  attemptOf({ number, error, usage, costUsd, ...rest }: AttemptView): Attempt {
    const attempt = Object.assign(this.#attempts.get(number)?.attempt ?? { identity: {} }, rest, {
      error: error && (this.#errors.errorOf(error) as Attempt['error']),
      usage: () => usage,
      ...(costUsd !== undefined && { costUsd: () => costUsd }),
    })
    this.#attempts.set(number, { attempt, known: rest.reasonNext })
    return attempt
  }

  /** Takes over the state of the gateway's. */
  follow({ attempts, served, cached, ...times }: TraceView): void {
    Object.assign(this, times)
    this.attempts.splice(0, this.attempts.length, ...attempts.map((view) => this.attemptOf(view)))
    const answered = served === undefined ? undefined : this.#attempts.get(served)
    if (answered) this.answeredBy(answered.attempt, false)
    if (cached) this.cached = this.#cached = cached
  }

  /** What was added since the last time. `isOver`: the answer as it may be recorded is there. */
  takePart(isOver: boolean): TracePart {
    const added = this.#added && addedTo(this.#added)
    const cached = this.cached === this.#cached ? undefined : this.cached
    this.#added = undefined
    this.#cached = this.cached
    return {
      added,
      facts: this.facts,
      reasons: this.#takeReasons(),
      cached,
      body: isOver ? recorded(this.body) : undefined,
    }
  }

  override addNote(note: Note): void {
    super.addNote(note)
    this.#news.addNote(note)
  }

  override finding(module: string, found: SafetyFinding, mode?: 'shadow'): void {
    super.finding(module, found, mode)
    this.#news.finding(module, found, mode)
  }

  override decide(decision: Decision): void {
    super.decide(decision)
    this.#news.decide(decision)
  }

  override changeParam(change: string): void {
    super.changeParam(change)
    this.#news.changeParam(change)
  }

  override header(name: string, value: string | number): void {
    super.header(name, value)
    this.#news.header(name, value)
  }

  get #news(): Trace {
    this.#added ??= new Trace()
    return this.#added
  }

  #takeReasons(): Map<number, string> | undefined {
    let reasons: Map<number, string> | undefined
    for (const [number, entry] of this.#attempts) {
      const { reasonNext } = entry.attempt
      if (reasonNext === undefined || reasonNext === entry.known) continue
      entry.known = reasonNext
      reasons ??= new Map()
      reasons.set(number, reasonNext)
    }
    return reasons
  }
}

const addedTo = ({ notes, findings, decisions, paramsChanged, headers }: Trace): Added => ({
  notes,
  findings,
  decisions,
  paramsChanged,
  headers,
})

/** Adds to a trace what was added to the worker's; with `isRefusal`, without the refusal, which the chain notes. */
export function addPart(
  { added, facts, reasons, cached, body }: TracePart,
  { call: { trace }, attempts }: RemoteCall,
  isRefusal: boolean,
): void {
  for (const note of added?.notes ?? []) if (!isRefusal || note.verdict !== 'refused') trace.addNote(note)
  for (const { module, mode, ...found } of added?.findings ?? []) trace.finding(module, found, mode)
  for (const decision of added?.decisions ?? []) trace.decide(decision)
  for (const change of added?.paramsChanged ?? []) trace.changeParam(change)
  for (const [name, value] of Object.entries(added?.headers ?? {})) trace.header(name, value)
  Object.assign(trace.facts, facts)
  for (const [number, reason] of reasons ?? []) {
    const attempt = trace.attempts.find(({ identity }) => identity === attempts.get(number))
    if (attempt) attempt.reasonNext = reason
  }
  if (cached) trace.cached = cached
  if (body) trace.body ??= () => body
}

/** A body that cannot be put together is not recorded. */
function recorded(body: Trace['body']): Completion | undefined {
  try {
    return body?.()
  } catch {
    return undefined
  }
}

import type { Completion } from '../call/canonical.ts'
import type { Cached, Decision, Note, Trace } from '../call/trace.ts'
import { nameOf } from './trace-view.ts'

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

/** Tells what was added to a trace in a worker. */
export class TraceParts {
  readonly #trace: Trace
  readonly #headers: Record<string, string> = {}
  readonly #reasons: Record<string, string> = {}
  #notes = 0
  #decisions = 0
  #paramsChanged = 0
  #cached: Cached | undefined

  constructor(trace: Trace) {
    this.#trace = trace
  }

  /** What is new since the last time; undefined when nothing is. `isOver`: the answer as it may be recorded is there. */
  next(isOver: boolean): TracePart | undefined {
    const { notes, decisions, paramsChanged, facts, cached, body } = this.#trace
    const part = {
      notes: notes.slice(this.#notes),
      decisions: decisions.slice(this.#decisions),
      paramsChanged: paramsChanged.slice(this.#paramsChanged),
      headers: news(this.#trace.headers, this.#headers),
      facts,
      reasons: news(this.#reasonsNext(), this.#reasons),
    }
    this.#notes = notes.length
    this.#decisions = decisions.length
    this.#paramsChanged = paramsChanged.length
    const isEmpty = Object.values(part).every((value) => Object.keys(value).length === 0)
    const found = cached === this.#cached ? undefined : cached
    const whole = isOver && body ? recorded(body) : undefined
    if (isEmpty && !found && !whole) return undefined
    this.#cached = cached
    return { ...part, ...(found && { cached: found }), ...(whole && { body: whole }) }
  }

  /** What the trace took over from its counterpart is not told back. */
  followed(): void {
    Object.assign(this.#reasons, this.#reasonsNext())
    this.#cached = this.#trace.cached
  }

  #reasonsNext(): Record<string, string> {
    const reasons: Record<string, string> = {}
    for (const attempt of this.#trace.attempts)
      if (attempt.reasonNext !== undefined) reasons[nameOf(attempt)] = attempt.reasonNext
    return reasons
  }
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
function news(now: Readonly<Record<string, string>>, told: Record<string, string>): Record<string, string> {
  const fresh: Record<string, string> = {}
  for (const name in now) if (told[name] !== now[name]) fresh[name] = now[name]!
  Object.assign(told, fresh)
  return fresh
}

/** Adds to a trace what was added to its counterpart. */
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

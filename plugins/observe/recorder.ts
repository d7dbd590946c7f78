import type { Awaitable, Call, Outcome } from '#kernel'
import { detach } from '#kit'
import { bodiesText } from './body.ts'
import type { TraceRow } from './row.ts'
import { rowOf } from './trace.ts'
import type { Traces } from './traces.ts'

export interface BodyRules {
  /** Whether bodies are stored right now. */
  readonly store: boolean
  /** Of each side. */
  readonly maxBytes: number
}

/** Queues the trace of a call that has settled. */
export function record(
  traces: Traces,
  { outcome, call }: { outcome: Outcome; call: Call },
  rules: BodyRules,
): TraceRow {
  if (!rules.store) {
    const row = rowOf(outcome, call, 'off')
    seeTo(traces.append(row, undefined, call.principal))
    return row
  }
  const { request } = call.trace
  const row = rowOf(outcome, call, request ? 'stored' : 'redacted')
  const text = (): string | undefined => {
    const sides = { request: request && call.trace.json(request), response: storedAnswer(outcome) }
    return bodiesText(sides, rules.maxBytes)
  }
  seeTo(traces.append(row, text, call.principal))
  return row
}

function seeTo(appended: Awaitable<void>): void {
  if (appended) detach('a trace that is to be sealed', appended)
}

/** Escapes that JSON allows and this encoder never writes: a search would not find a text written with them. */
const foreignEscape = /\\[u/]/

/**
 * The answer as the provider wrote it, where the client got it so as well. A request is never stored as it came: it
 * may name a field twice, and what no module has seen is not for the record.
 */
function storedAnswer(outcome: Outcome): string | undefined {
  const json = outcome.json()
  return json !== undefined && foreignEscape.test(json) ? JSON.stringify(outcome.body()) : json
}

import type { Call, Outcome } from '#kernel'
import { bodiesText } from './body.ts'
import type { TraceRow } from './row.ts'
import { rowOf } from './trace.ts'
import type { Traces } from './traces.ts'

export interface BodyRules {
  readonly store: boolean
  /** Of each side. */
  readonly maxBytes: number
}

/** Estimated size of an output token as text in an answer. */
const tokenBytes = 5
const envelopeBytes = 500

/** Queues the trace of a call that has settled. Its bodies become text when the log writes them, not here. */
export function record(
  traces: Traces,
  { outcome, call }: { outcome: Outcome; call: Call },
  rules: BodyRules,
): TraceRow {
  if (!rules.store) {
    const row = rowOf(outcome, call, 'off')
    traces.append(row)
    return row
  }
  const { request } = call.trail
  const row = rowOf(outcome, call, request ? 'stored' : 'redacted')
  const bodies = () => bodiesText({ request, response: outcome.body() }, rules.maxBytes)
  traces.append(row, bodies, sizeOf(outcome, call))
  return row
}

/** Roughly what the bodies take in the queue. */
function sizeOf({ usage }: Outcome, { context }: Call): number {
  const asked = Number(context.headers['content-length'] ?? 0)
  return (Number.isFinite(asked) ? asked : 0) + usage.output * tokenBytes + envelopeBytes
}

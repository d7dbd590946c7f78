import type { Attempt, Call, Outcome } from '#kernel'
import { type Attributes, attemptAttributes, callAttributes, spanName } from './attributes.ts'
import type { TraceContext } from './trace-context.ts'

/** A span that is over. Times are milliseconds since the epoch. */
export interface FinishedSpan {
  readonly name: string
  readonly kind: 'server' | 'client'
  readonly traceId: string
  readonly spanId: string
  /** Undefined where the trace begins with it. */
  readonly parentId: string | undefined
  /** Whether the parent is in another process. */
  readonly isParentRemote: boolean
  readonly state: string | undefined
  readonly start: number
  readonly end: number
  readonly attributes: Attributes
  readonly failed: boolean
}

/** A call's place in its trace, and the ids of its attempts' spans by the identity of the attempt. */
export interface Joined {
  readonly context: TraceContext
  readonly attempts: Map<object, string>
}

/** The spans of a call that has settled: its own, and one for each attempt that was made. */
export function spansOf(
  { context, attempts }: Joined,
  call: Call,
  outcome: Outcome,
  captureContent: boolean,
): FinishedSpan[] {
  const { traceId, spanId, parentId, state } = context
  const { startedAt, started } = call.trace
  const end = startedAt + outcome.latencyMs
  const own: FinishedSpan = {
    name: spanName(call, call.request.model),
    kind: 'server',
    traceId,
    spanId,
    parentId,
    isParentRemote: true,
    state,
    start: startedAt,
    end,
    attributes: callAttributes(call, outcome, captureContent),
    failed: outcome.error !== undefined,
  }
  const children = call.trace.attempts.flatMap((attempt: Attempt): FinishedSpan[] => {
    const id = attempts.get(attempt.identity)
    if (id === undefined) return []
    const start = startedAt + attempt.startedAt - started
    return [
      {
        name: spanName(call, attempt.model),
        kind: 'client',
        traceId,
        spanId: id,
        parentId: spanId,
        isParentRemote: false,
        state,
        start,
        end: attempt.latencyMs === undefined ? Math.max(start, end) : start + attempt.latencyMs,
        attributes: attemptAttributes(call, attempt),
        failed: attempt.error !== undefined,
      },
    ]
  })
  return [own, ...children]
}

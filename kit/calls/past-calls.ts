import type { TraceQuery, TraceReader, TraceSummary } from '../../contract/traces.ts'
import { takingTurns } from '../work/turns.ts'

export interface PastCallsOptions {
  /** How many calls at the most. */
  readonly calls: number
  /** The time after which it ends with what it has, in milliseconds. */
  readonly budgetMs: number
  readonly signal: AbortSignal
}

/**
 * Runs `look` on calls of the past, newest first, and says whether the time sufficed for all that were wanted. Others get their
 * turn meanwhile. Rejects when the signal aborts.
 */
export async function eachPastCall(
  traces: TraceReader,
  query: TraceQuery,
  { calls, budgetMs, signal }: PastCallsOptions,
  look: (call: TraceSummary) => Promise<void>,
): Promise<boolean> {
  const ends = performance.now() + budgetMs
  const rest = takingTurns()
  let seen = 0
  for await (const call of traces.scan(query)) {
    if (seen >= calls) return true
    signal.throwIfAborted()
    if (performance.now() > ends) return false
    await look(call)
    seen += 1
    await rest()
  }
  return true
}

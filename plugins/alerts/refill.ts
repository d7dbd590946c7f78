import type { Context, TraceReader } from '#kernel'
import { eachPastCall } from '#kit'
import { sampleOf } from './sample.ts'
import type { Watched } from './watched.ts'

/** Traces are found by when their calls began; one that took longer than this is missed. */
export const longestCallMs = 600_000
/** A busy gateway has more in a long window; the oldest are then missed. */
const mostTraces = 2_000_000

interface Circumstances {
  readonly traces: TraceReader
  readonly now: number
  readonly mostGroups: number
  readonly signal: AbortSignal
  readonly log: Context<unknown>['log']
}

/**
 * Fills the windows of rules with the calls of before they were watched, so that a rule holds what it would if it had always been
 * there. Calls that were counted live meanwhile are counted once.
 */
export async function refill(
  watched: readonly Watched[],
  { traces, now, mostGroups, signal, log }: Circumstances,
): Promise<void> {
  const longest = Math.max(...watched.map(({ rule }) => rule.windowMs))
  const query = { from: now - longest - longestCallMs }
  let read = 0
  await eachPastCall(traces, query, { calls: mostTraces, budgetMs: Infinity, signal }, async (trace) => {
    read += 1
    const sample = sampleOf(trace)
    if (!sample) return
    for (const { fed, rule } of watched) if (!fed?.has(sample.id)) rule.take(sample, mostGroups, true)
  })
  if (read === mostTraces)
    log.warn({ traces: read }, 'the window of an alert rule has more calls than are read at its start')
  for (const one of watched) {
    one.rule.groups.sort()
    one.fed = undefined
  }
}

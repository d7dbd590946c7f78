import { setImmediate as breathe } from 'node:timers/promises'
import type { TraceReader, TraceSummary } from '#kernel'
import type { Analysis, Found, StoredRequest } from './insight.ts'

/** The bounds of an analysis. */
const most = { traces: 10_000, bodies: 1000, ms: 10_000 }
/** Other work gets a turn this often, in milliseconds. */
const turnMs = 10

export interface Analyzed {
  readonly found: readonly Found[]
  readonly traces: number
  readonly bodies: number
  /** Whether these were all traces of the time. */
  readonly complete: boolean
}

/** Hands clients' own calls since a time to analyses, newest first, until all were there or a bound is reached. */
export async function analyze(
  reader: TraceReader,
  { from, userId }: { readonly from: number; readonly userId: string | undefined },
  analyses: readonly Analysis[],
): Promise<Analyzed> {
  const ends = performance.now() + most.ms
  let turn = performance.now() + turnMs
  let [traces, bodies, complete] = [0, 0, true]
  for await (const trace of reader.scan({ from, user_id: userId, source: 'proxy' })) {
    if (traces === most.traces || performance.now() > ends) {
      complete = false
      break
    }
    traces += 1
    for (const analysis of analyses) analysis.add?.(trace)
    const request = bodies < most.bodies ? await requestOf(reader, trace) : undefined
    if (request) {
      bodies += 1
      for (const analysis of analyses) analysis.addRequest?.(trace, request)
    }
    if (performance.now() < turn) continue
    await breathe()
    turn = performance.now() + turnMs
  }
  return { found: analyses.flatMap((analysis) => analysis.found()), traces, bodies, complete }
}

/** A request of which only the beginning was stored would look like others that begin so. */
async function requestOf(reader: TraceReader, { id }: TraceSummary): Promise<StoredRequest | undefined> {
  const { request, truncated } = (await reader.bodies(id)) ?? {}
  if (truncated?.includes('request') || typeof request !== 'object' || request === null) return undefined
  return request as StoredRequest
}

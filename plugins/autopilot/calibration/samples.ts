import { badRequest, type ModelRequest, type Principal, type TraceReader, type TraceSummary } from '#kernel'
import { type PastCall, pastCallOf, repairedJson, takingTurns } from '#kit'
import { allowsContent } from '../configuration/content.ts'
import type { Configuration } from '../configuration/fields.ts'
import type { Sample, TraceFilter } from './rows.ts'

/** Traces that are looked at, the newest. */
const mostLooked = 5000

interface Wanted {
  readonly principal: Principal
  readonly reference: string
  readonly content: Configuration['content']
  readonly filter: TraceFilter
  readonly size: number
}

/**
 * Chooses calls to repeat: clients' own chats of listed users and projects which the reference model answered well, each question
 * once, the newest first. Throws 422 where there is none.
 */
export async function samplesOf(
  traces: TraceReader,
  { principal, reference, content, filter, size }: Wanted,
): Promise<Sample[]> {
  const { user_id, project } = filter
  const from = filter.from === undefined ? undefined : Date.parse(filter.from)
  const to = filter.to === undefined ? undefined : Date.parse(filter.to)
  const found: Sample[] = []
  const seen = new Set<string>()
  const rest = takingTurns()
  let looked = 0
  for await (const trace of traces.scan({ source: 'proxy', user_id, project, from, to })) {
    if (found.length === size || looked === mostLooked) break
    looked += 1
    await rest()
    if (!allowsContent(content, trace.user_id, trace.project) || !isOf(trace, reference)) continue
    const past = await pastCall(traces, trace.id, principal)
    const question = past && questionOf(past.request)
    if (question === undefined || seen.has(question)) continue
    seen.add(question)
    found.push({
      trace_id: trace.id,
      ...(trace.provider && { provider: trace.provider }),
      ...(trace.cost && trace.cost.unpriced === undefined && { cost_nano: trace.cost.total_nano }),
      latency_ms: trace.latency_us / 1000,
      tokens_out: trace.usage.output,
    })
  }
  if (found.length > 0) return found
  throw badRequest(
    `No stored call of the listed users and projects was answered by ${reference}. See content in the configuration, and whether bodies are stored.`,
    { status: 422, type: 'no_samples', param: 'content' },
  )
}

function isOf({ operation, status, model, provider }: TraceSummary, reference: string): boolean {
  const isAnswered = operation === 'chat' && status === 'ok'
  return isAnswered && (model === reference || `${provider}/${model}` === reference)
}

/** Undefined for a call that is not stored whole. */
export async function pastCall(
  traces: TraceReader,
  id: string,
  principal: Principal,
): Promise<PastCall | undefined> {
  try {
    return await pastCallOf(traces, id, principal, 'trace_filter')
  } catch {
    return undefined
  }
}

/** What tells questions apart: what is asked, and not how. */
const questionOf = ({ messages, tools, response_format }: ModelRequest): string =>
  repairedJson([messages, tools ?? null, response_format ?? null])

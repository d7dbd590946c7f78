import type { Completion, ModelRequest, Outcome, TraceSummary } from '#kernel'
import { answerTexts, callFigures, similarity, usdOf } from '#kit'
import type { Quality, Side } from './row.ts'

const millis = (us: number): number => us / 1000

/** The figures of a past call. */
export const sideOf = (trace: TraceSummary): Side => ({
  trace_id: trace.id,
  model: trace.model,
  provider: trace.provider ?? null,
  tokens_in: trace.usage.input,
  tokens_out: trace.usage.output,
  cost_usd: trace.cost ? usdOf(trace.cost.total_nano) : null,
  latency_ms: millis(trace.latency_us),
  ttft_ms: trace.ttft_us === undefined ? null : millis(trace.ttft_us),
})

/** A call that was not made, or not yet. */
export const unmade = (model: string): Side => ({
  trace_id: null,
  model,
  provider: null,
  tokens_in: null,
  tokens_out: null,
  cost_usd: null,
  latency_ms: null,
  ttft_ms: null,
})

/** The figures of a call that was made again. */
export const targetOf = (trace_id: string, model: string, outcome: Outcome | undefined): Side =>
  outcome ? { trace_id, model, ...callFigures(outcome) } : unmade(model)

/** How good the new answer is, as far as that is known without a judge. */
export function qualityOf(request: ModelRequest, before: Completion, after: Completion | undefined): Quality {
  const wantsJson = /^json/.test(String(request.response_format?.type))
  const [source, target] = [textOf(before), after && textOf(after)]
  return {
    similarity: target === undefined ? null : Math.round(similarity(source, target) * 10_000) / 10_000,
    json_valid: wantsJson && target !== undefined ? isJson(target) : null,
    source_json_valid: wantsJson ? isJson(source) : null,
  }
}

/** What an answer says, with the arguments of the tools that it calls. */
export const textOf = (body: Completion): string => answerTexts(body).join('\n')

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

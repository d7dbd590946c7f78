import { type Attempt, type Call, isUpstreamError, type Outcome } from '#kernel'
import { callStatus } from '#kit'
import { summed } from './families.ts'
import { type ModelLabels, written } from './labels.ts'
import { add, observe, type Sums } from './sums.ts'

/** Adds a call that has settled. */
export function count(sums: Sums, models: ModelLabels, outcome: Outcome, call: Call): void {
  const { provider, model, usage, cost, latencyMs, ttftMs, upstreamMs } = outcome
  const { trace, context } = call
  const status = callStatus(outcome, call)
  if (status === 'ok' && provider !== undefined && model !== undefined) models.learn(provider, model)
  const served = models.of(provider, model)
  const source = context.source === 'proxy' ? 'client' : 'gateway'
  add(sums, summed.calls, `${served},source="${source}",status="${status}"`, 1)
  observe(sums, summed.callSeconds, served, latencyMs / 1000)
  observe(sums, summed.overheadSeconds, '', Math.max(0, latencyMs - upstreamMs) / 1000)
  if (call.stream && ttftMs !== undefined) observe(sums, summed.firstTokenSeconds, served, ttftMs / 1000)
  if (usage.input > 0) add(sums, summed.inputTokens, served, usage.input)
  if (usage.output > 0) add(sums, summed.outputTokens, served, usage.output)
  if (usage.cachedRead > 0) add(sums, summed.cachedTokens, served, usage.cachedRead)
  if (usage.reasoning > 0) add(sums, summed.reasoningTokens, served, usage.reasoning)
  if (cost && cost.totalNano > 0) add(sums, summed.cost, served, cost.totalNano)
  for (const attempt of trace.attempts) countAttempt(sums, models, attempt)
  if (trace.cached) {
    add(sums, summed.cacheHits, `kind="${trace.cached.kind}"`, 1)
    if (outcome.saved) add(sums, summed.saved, '', outcome.saved.totalNano)
  }
  countRefusal(sums, outcome)
  for (const { module, type, action, mode = 'enforce', count: found } of trace.findings)
    add(sums, summed.findings, written({ module, type, action, mode }), found)
}

function countAttempt(sums: Sums, models: ModelLabels, attempt: Attempt): void {
  const labels = models.of(attempt.provider, attempt.model)
  add(sums, summed.attempts, `${labels},result="${resultOf(attempt)}"`, 1)
  if (attempt.latencyMs !== undefined) observe(sums, summed.attemptSeconds, labels, attempt.latencyMs / 1000)
}

/** What came of an attempt; `left` where nobody waited for its answer. */
function resultOf({ error, status }: Attempt): string {
  if (!error) return status === undefined ? 'left' : 'ok'
  const { providerStatus: said, fault } = error
  if (said === undefined) return fault
  if (said === 429) return 'rate_limited'
  return said >= 500 ? 'server_error' : 'client_error'
}

function countRefusal(sums: Sums, { error, ending }: Outcome): void {
  if (!error || isUpstreamError(error) || (ending !== 'refused' && ending !== 'blocked')) return
  add(sums, summed.refused, written({ module: error.module ?? 'gateway', type: error.type }), 1)
}

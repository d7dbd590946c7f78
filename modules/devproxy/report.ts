import type { Attempt, Call, Pricing, Usage } from '#kernel'
import { usdOf } from '#kit'

/** Finds the prices; undefined where no plugin offers any. */
export type FindPricing = () => Pricing | undefined

/**
 * What happened in a call so far, as plain JSON: who did what in the chain and how long it took, what was sent to which providers, and
 * what it cost. It has what traces may record, and so no key, no header, no secret of the gateway, and nothing that guards took out.
 */
export function reportOf(call: Call, findPricing: FindPricing): Record<string, unknown> {
  const { trace } = call
  return {
    trace_id: call.id,
    total_ms: rounded(performance.now() - trace.started),
    timings: timingsOf(call),
    notes: trace.notes.map(({ module, verdict, detail }) => ({ module, verdict, ...(detail && { detail }) })),
    decisions: trace.decisions.map((decision) => ({ ...decision })),
    findings: trace.findings.map((finding) => ({ ...finding })),
    skipped: trace.skips.map(({ module, condition }) => ({ module, condition })),
    params_changed: [...trace.paramsChanged],
    cached: trace.cached ? { kind: trace.cached.kind, age_s: rounded(trace.cached.ageS) } : null,
    attempts: trace.attempts.map(attemptOf),
    upstream_request: trace.request ?? null,
    cost: costOf(trace.served, findPricing),
  }
}

/** The time of each module, the longest first. */
export function timingsOf({ trace }: Call): { module: string; hook: string; ms: number }[] {
  return trace.timings
    .map(({ module, hook, ms }) => ({ module, hook, ms: rounded(ms) }))
    .sort((a, b) => b.ms - a.ms)
}

const attemptOf = ({ n, provider, model, ownKey, status, latencyMs, error, reasonNext }: Attempt) => ({
  n,
  provider,
  model,
  own_key: ownKey ?? false,
  status: status ?? null,
  latency_ms: latencyMs === undefined ? null : rounded(latencyMs),
  // A provider's own words may be those of the prompt.
  error: error ? { code: error.code, fault: error.fault } : null,
  reason_next: reasonNext ?? null,
})

/** Null without an answer of a provider, without its usage, or without a price for it. */
export function costOf(
  served: Attempt | undefined,
  findPricing: FindPricing,
): Record<string, unknown> | null {
  const usage: Usage | undefined = served?.usage?.()
  const pricing = findPricing()
  if (!served || !usage || !pricing) return null
  const cost = pricing.cost(served.provider, served.model, usage)
  const description = pricing.describe(served.provider, served.model)
  if (!cost || !description) return null
  return {
    total_usd: usdOf(cost.totalNano),
    price: cost.priceId,
    source: cost.source,
    items: pricing.items(description.rates, usage).map((item) => ({
      class: item.class,
      tokens: item.tokens,
      cost_usd: usdOf(item.costNano),
      usd_per_m: item.usdPerM,
    })),
  }
}

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000

import type { Call, Outcome } from '#kernel'

/** What a module's configuration asks for. */
export interface Limits {
  /** Spreads above the median at which something is unusual; infinite in shadow, which only learns. */
  readonly z: number
  /** Values of a figure, and calls of a model or a user, before anything is said. */
  readonly warmup: number
  /** A faster call is not slow, whatever is usual. */
  readonly minLatencyMs: number
}

/** The figures of a call, in the order in which an observation has them. */
export const callMetrics = ['latency_ms', 'tokens', 'cost_usd'] as const

/** What the radar learns of one call: plain data, which crosses threads. */
export interface Observation {
  readonly trace: string
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number
  readonly provider: string | undefined
  /** The model at the provider; undefined when no provider was asked. */
  readonly model: string | undefined
  readonly user: string | undefined
  readonly project: string
  /** Undefined for a call that says nothing of its model: refused, blocked, or left by its client. */
  readonly failed: boolean | undefined
  /** By `callMetrics`, NaN where there is none; undefined unless a provider answered in full. */
  readonly values: readonly [number, number, number] | undefined
  readonly limits: Limits
}

export function observationOf(outcome: Outcome, call: Call, limits: Limits): Observation {
  const { ending, provider, model } = outcome
  const isAnswered = ending === 'ok' || ending === 'length'
  const isFailed = ending === 'upstream_error' || ending === 'timeout' || ending === 'gateway_error'
  return {
    trace: call.id,
    at: Date.now(),
    provider,
    model,
    user: call.principal.userId,
    project: call.context.project,
    failed: isAnswered ? false : isFailed ? true : undefined,
    values: isAnswered && model !== undefined && !call.trace.cached ? valuesOf(outcome) : undefined,
    limits,
  }
}

function valuesOf({ latencyMs, usage, cost }: Outcome): [number, number, number] {
  const tokens = usage.source === 'none' ? Number.NaN : usage.input + usage.output
  return [latencyMs, tokens, cost ? cost.totalNano / 1e9 : Number.NaN]
}

import type { TracedAttempt, TraceFinding, TraceSummary } from '#kernel'

/** What metrics know of a call: plain data with whole numbers, so that it crosses to another thread and sums are exact. */
export interface Sample {
  /** Of the trace. */
  readonly id: string
  /** Milliseconds since the epoch. */
  readonly endedAt: number
  readonly source: string
  readonly model: string
  readonly provider: string | undefined
  readonly user: string | undefined
  readonly key: string
  readonly project: string
  readonly isError: boolean
  readonly isCacheHit: boolean
  readonly isBlocked: boolean
  readonly latencyUs: number
  readonly ttftUs: number | undefined
  /** The gateway's own time. */
  readonly overheadUs: number
  readonly tokens: number
  readonly costNano: number
  /** How full the fullest cap of the call was, in thousandths of a percent; undefined without one. */
  readonly budgetMillipercent: number | undefined
  readonly attempts: readonly SampledAttempt[]
}

export interface SampledAttempt {
  readonly provider: string
  readonly model: string
  /** Whether the provider failed, and not the request. */
  readonly isFailed: boolean
}

/** The fact by which `alertpulse` leaves a call out. */
const leftOut = 'left out'

/** The sample of a call; undefined for one that is left out. */
export function sampleOf(trace: TraceSummary): Sample | undefined {
  const { status, facts, usage } = trace
  if (facts.alerts === leftOut) return undefined
  return {
    id: trace.id,
    endedAt: trace.at + Math.round(trace.latency_us / 1000),
    source: trace.source,
    model: trace.model,
    provider: trace.provider,
    user: trace.user_id,
    key: trace.key_id,
    project: trace.project,
    isError: status === 'error' || status === 'timeout',
    isCacheHit: status === 'cache_hit',
    isBlocked: status === 'blocked' || (trace.findings?.some(isBlock) ?? false),
    latencyUs: trace.latency_us,
    ttftUs: trace.ttft_us,
    overheadUs: Math.max(0, trace.latency_us - trace.upstream_us),
    tokens: usage.input + usage.output,
    costNano: trace.cost?.total_nano ?? 0,
    budgetMillipercent: budgetOf(facts.budget),
    attempts: trace.attempts.map(attemptOf),
  }
}

/** What a module in shadow would have blocked was not. */
const isBlock = ({ action, mode }: TraceFinding): boolean => action === 'block' && mode === undefined

const attemptOf = ({ provider, model, status, error }: TracedAttempt): SampledAttempt => ({
  provider,
  model,
  // With 4xx the request is at fault, or a limit.
  isFailed: error !== undefined && (status === undefined || status < 400 || status >= 500),
})

function budgetOf(fact: unknown): number | undefined {
  const { used_pct: percent } = (fact ?? {}) as { readonly used_pct?: unknown }
  return typeof percent === 'number' && percent >= 0 ? Math.round(percent * 1000) : undefined
}

import type { Sample, SampledAttempt } from './sample.ts'

/** How the values of a window become one. */
type Combination =
  | { readonly kind: 'sum' | 'mean' | 'most' | 'per_minute' }
  | { readonly kind: 'quantile'; readonly share: number }

/** What a rule looks at. */
export type Metric = Combination & {
  /** What a call adds, as a whole number; undefined when it adds nothing. */
  readonly of: (sample: Sample) => number | undefined
  /** The unit that is shown, in that of the values. */
  readonly scale: number
  /** What an attempt adds, under its own provider and model, in the place of the call. */
  readonly ofAttempt?: (attempt: SampledAttempt) => number
  /** Whether values lie between 0 and 1. */
  readonly isShare?: true
  /** The unit for people. */
  readonly unit: string
}

const nano = 1e-9
const toMs = 1e-3

const cost = { of: ({ costNano }: Sample) => costNano, scale: nano }
const latency = { of: ({ latencyUs }: Sample) => latencyUs, scale: toMs, unit: 'ms' }

export const metrics = {
  cost_usd: { kind: 'sum', ...cost, unit: 'USD' },
  cost_per_min: { kind: 'per_minute', ...cost, unit: 'USD a minute' },
  error_rate: { kind: 'mean', of: ({ isError }) => Number(isError), scale: 1, isShare: true, unit: '' },
  latency_avg: { kind: 'mean', ...latency },
  latency_p50: { kind: 'quantile', share: 0.5, ...latency },
  latency_p95: { kind: 'quantile', share: 0.95, ...latency },
  latency_p99: { kind: 'quantile', share: 0.99, ...latency },
  ttft_p95: { kind: 'quantile', share: 0.95, of: ({ ttftUs }) => ttftUs, scale: toMs, unit: 'ms' },
  request_rate: { kind: 'per_minute', of: () => 1, scale: 1, unit: 'calls a minute' },
  tokens_per_request: { kind: 'mean', of: ({ tokens }) => tokens, scale: 1, unit: 'tokens' },
  cache_hit_rate: {
    kind: 'mean',
    of: ({ isCacheHit }) => Number(isCacheHit),
    scale: 1,
    isShare: true,
    unit: '',
  },
  provider_errors: {
    kind: 'sum',
    of: () => undefined,
    ofAttempt: ({ isFailed }) => Number(isFailed),
    scale: 1,
    unit: 'failed attempts',
  },
  guardrail_blocks: {
    kind: 'sum',
    of: ({ isBlocked }) => Number(isBlocked),
    scale: 1,
    unit: 'blocked calls',
  },
  budget_used_pct: {
    kind: 'most',
    of: ({ budgetMillipercent }) => budgetMillipercent,
    scale: 1e-3,
    unit: '%',
  },
  overhead_p99: {
    kind: 'quantile',
    share: 0.99,
    of: ({ overheadUs }) => overheadUs,
    scale: toMs,
    unit: 'ms',
  },
} as const satisfies Record<string, Metric>

export type MetricName = keyof typeof metrics
export const metricNames = Object.keys(metrics) as [MetricName, ...MetricName[]]

/** A metric by its name, in its general form. */
export const metricOf = (name: MetricName): Metric => metrics[name]

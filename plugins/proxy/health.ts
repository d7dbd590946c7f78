import type { UpstreamError } from '#kernel'
import type { Probe } from '#provider'

/** One try at a provider that says something about the provider. */
export interface Sample {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly ok: boolean
  readonly ms: number
}

export type HealthStatus = 'healthy' | 'degraded' | 'down' | 'unconfigured' | 'unknown'

export interface Health {
  readonly status: HealthStatus
  /** Share of tries that failed; null when there were none lately. */
  readonly errorRate: number | null
  /** Median of the tries that succeeded. */
  readonly latencyMs: number | null
}

/** How long a try counts. */
export const windowMs = 5 * 60_000
const mostSamples = 200
/** Fewer tries than this say nothing about a share. */
const enough = 5
const degradedFrom = 0.1
const downFrom = 0.5

/** Adds a try to those of a provider and forgets the oldest. */
export function remember(samples: Sample[], sample: Sample): void {
  samples.push(sample)
  if (samples.length > mostSamples) samples.shift()
}

/** Whether an error is the provider's doing: the caller's own mistakes say nothing about it. */
export const isProvidersFault = ({ fault, providerStatus = 0 }: UpstreamError): boolean =>
  fault !== 'status' || providerStatus >= 500 || [401, 403, 408, 429].includes(providerStatus)

/** How a provider is, by its latest tries and its last check; the newer of the two counts. */
export function healthOf(samples: readonly Sample[], probe: Probe | undefined, now: number): Health {
  const recent = samples.filter(({ at }) => now - at < windowMs)
  const failed = recent.filter(({ ok }) => !ok).length
  const errorRate = recent.length === 0 ? null : failed / recent.length
  const latencyMs = median(recent.filter(({ ok }) => ok).map(({ ms }) => ms)) ?? probe?.latencyMs ?? null
  return { status: statusOf(recent, errorRate, probe), errorRate, latencyMs }
}

function statusOf(recent: readonly Sample[], rate: number | null, probe: Probe | undefined): HealthStatus {
  const last = recent.at(-1)
  if (probe && (!last || Date.parse(probe.checkedAt) >= last.at)) return probe.status
  if (!last || rate === null) return 'unknown'
  if (recent.length < enough) return last.ok ? 'healthy' : 'degraded'
  if (rate >= downFrom) return 'down'
  return rate >= degradedFrom ? 'degraded' : 'healthy'
}

function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)]
  return middle === undefined ? undefined : Math.round(middle)
}

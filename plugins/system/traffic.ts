import type { Outcome } from '#kernel'

/** Sums over the model calls since the start. Plain data, so that it outlives the code that made it. */
export interface Traffic {
  calls: number
  /** Calls that a provider or the gateway failed; not those that were refused or abandoned. */
  failures: number
  latencyMs: number
  /** Calls by their overhead: bucket i holds those below 2^(i/4) µs. */
  readonly overhead: number[]
}

/** Up to 2^25 µs, half a minute. */
const buckets = 101
const failed: readonly Outcome['ending'][] = ['upstream_error', 'timeout', 'gateway_error']

export const emptyTraffic = (): Traffic => ({
  calls: 0,
  failures: 0,
  latencyMs: 0,
  overhead: Array<number>(buckets).fill(0),
})

/** The counts of a call. */
export type Counted = Pick<Outcome, 'ending' | 'latencyMs' | 'upstreamMs'>

/** Adds a call. Its overhead is all of its time that was not spent waiting for providers. */
export function record(traffic: Traffic, { ending, latencyMs, upstreamMs }: Counted): void {
  traffic.calls += 1
  if (failed.includes(ending)) traffic.failures += 1
  traffic.latencyMs += latencyMs
  const us = Math.max(1, (latencyMs - upstreamMs) * 1000)
  traffic.overhead[Math.min(buckets - 1, Math.ceil(4 * Math.log2(us)))]! += 1
}

export const errorRate = ({ calls, failures }: Traffic): number => (calls === 0 ? 0 : failures / calls)

export const averageLatencyMs = ({ calls, latencyMs }: Traffic): number =>
  calls === 0 ? 0 : latencyMs / calls

/** Milliseconds below which this share of calls had their overhead, at most a fifth too high. */
export function overheadMs({ calls, overhead }: Traffic, share: number): number {
  const wanted = Math.ceil(calls * share)
  if (wanted === 0) return 0
  let seen = 0
  const bucket = overhead.findIndex((count) => {
    seen += count
    return seen >= wanted
  })
  return 2 ** (bucket / 4) / 1000
}

/**
 * The generic cell rate algorithm (ITU-T I.371, annex A): a token bucket whose state is one number, the time at which
 * it would be full again. Times are milliseconds of any clock that never goes back.
 */
export interface Rate {
  /** Between two requests of a steady flow. */
  readonly intervalMs: number
  /** Requests that may come at once, after a pause that is long enough. */
  readonly burst: number
}

export interface Level {
  /** Requests that would be admitted right now. */
  readonly remaining: number
  /** Until the next one is admitted; 0 when it would be now. */
  readonly retryMs: number
  /** Until a whole burst may come again. */
  readonly resetMs: number
}

/** A microsecond is given away, so that rounding never costs a request. */
const roundingMs = 1e-3

/** How a bucket stands that is full at `fullAt`; one that was never used is full. */
export function levelOf({ intervalMs, burst }: Rate, fullAt: number | undefined, now: number): Level {
  const resetMs = Math.max(0, (fullAt ?? now) - now)
  const room = burst * intervalMs - resetMs
  const remaining = Math.max(0, Math.floor((room + roundingMs) / intervalMs))
  return { remaining, retryMs: remaining > 0 ? 0 : intervalMs - room, resetMs }
}

/** When the bucket is full again after one more request. */
export function afterRequest({ intervalMs }: Rate, fullAt: number | undefined, now: number): number {
  return Math.max(fullAt ?? now, now) + intervalMs
}

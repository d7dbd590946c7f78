export interface Backoff {
  /** Longest first wait; doubled each time. */
  readonly baseMs: number
  /** No wait is longer. */
  readonly maxMs: number
}

/**
 * How long to wait before retry `n` (from 0), in milliseconds: anything up to the bound that doubles each time ("full
 * jitter", Brooker, 2015), so that callers who failed together do not come back together. When the provider said how
 * long, that comes first; undefined when it is longer than a caller should be kept waiting.
 */
export function waitBefore(
  n: number,
  { baseMs, maxMs }: Backoff,
  retryAfterS: number | undefined,
  random: () => number,
): number | undefined {
  const told = (retryAfterS ?? 0) * 1000
  if (told > maxMs) return undefined
  return Math.min(maxMs, told + random() * baseMs * 2 ** n)
}

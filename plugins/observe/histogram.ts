/** Buckets grow by the eighth root of two: 9 % wide, so that a quantile is off by 5 % at the most. */
const steps = 8

/** The bucket of a duration: number i holds those over `2^((i-1)/8)` µs up to `2^(i/8)` µs, and number 0 all shorter ones too. */
export const bucketOf = (us: number): number => (us <= 1 ? 0 : Math.ceil(Math.log2(us) * steps))

/** The duration in µs below which this share lies, in between the bounds of its bucket; 0 when nothing was counted. */
export function quantile(counts: ReadonlyMap<number, number>, share: number): number {
  const buckets = [...counts].sort(([a], [b]) => a - b)
  const total = buckets.reduce((sum, [, count]) => sum + count, 0)
  const wanted = total * share
  let seen = 0
  for (const [bucket, count] of buckets) {
    if (seen + count >= wanted) {
      const lower = 2 ** ((bucket - 1) / steps)
      const upper = 2 ** (bucket / steps)
      return lower + (upper - lower) * ((wanted - seen) / count)
    }
    seen += count
  }
  return 0
}

/** 0, then 10, 15, 20 … 95, 100, 150 … up to 10^13: every threshold of one and a half digits is a rung. */
const rungs: readonly number[] = [
  0,
  ...Array.from({ length: 12 }, (_, exponent) => exponent + 1).flatMap((exponent) =>
    Array.from({ length: 18 }, (_, half) => ((half + 2) * 10 ** exponent) / 2),
  ),
]

/** Number of the highest rung that is not above a value, by which an index can find values over a threshold. */
export function rungOf(value: number): number {
  let low = 0
  let high = rungs.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (rungs[middle]! <= value) low = middle
    else high = middle - 1
  }
  return low
}

/** The rungs that values from this threshold on can be at; `exact` when all values there pass it. */
export function rungsFrom(threshold: number): { readonly rungs: readonly number[]; readonly exact: boolean } {
  const first = rungOf(Math.max(0, threshold))
  const exact = rungs[first]! >= threshold
  return { rungs: Array.from({ length: rungs.length - first }, (_, i) => first + i), exact }
}

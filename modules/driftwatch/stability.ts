/** Added to each bin: one that is empty would make the index infinite. */
const least = 0.5

/** The population stability index: how far the shares of a window are from those of a baseline. 0 where they are the same. */
export function stabilityIndex(baseline: readonly number[], window: readonly number[]): number {
  const [all, own] = [totalOf(baseline), totalOf(window)]
  return baseline.reduce((sum, count, bin) => {
    const before = (count + least) / all
    const now = (window[bin]! + least) / own
    return sum + (now - before) * Math.log(now / before)
  }, 0)
}

/**
 * The index that a window is above once in 100,000 times, although nothing has changed: without a change the index is
 * distributed like chi-squared with one degree of freedom less than there are bins, scaled by the sizes of both samples.
 */
export function chanceIndex(bins: number, baseline: number, window: number): number {
  const freedom = Math.min(bins - 1, quantiles.length)
  return freedom < 1 ? Number.POSITIVE_INFINITY : quantiles[freedom - 1]! * (1 / baseline + 1 / window)
}

/** Of chi-squared at 1 - 1e-5, by degrees of freedom from 1. */
export const quantiles = [19.511, 23.026, 25.902, 28.473, 30.856, 33.107, 35.259]

const totalOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count + least, 0)

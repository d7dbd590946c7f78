import { severities } from '#kernel'
import type { Sums } from './sums.ts'

const weights: Readonly<Record<(typeof severities)[number], number>> = {
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  critical: 1,
}

export const formula =
  '100 · (1 − w / calls), at least 0, where w adds up the events that were neither blocked nor redacted: ' +
  '0.1 for each of low severity, 0.3 for medium, 0.6 for high, 1 for critical. 100 without calls.'

/** From 0 to 100, by the formula, to two decimals. */
export function scoreOf(sums: Sums, calls: number): number {
  const weight = severities.reduce(
    (sum, severity) => sum + weights[severity] * (sums[`open ${severity}`] ?? 0),
    0,
  )
  if (weight === 0) return 100
  return Math.round(10_000 * Math.max(0, 1 - weight / Math.max(calls, 1))) / 100
}

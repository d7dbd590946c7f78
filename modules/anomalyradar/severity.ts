import type { AnomalySeverity } from '#kernel'

/** By how many times a score is over its bound. */
export function severityOf(score: number, bound: number): AnomalySeverity {
  if (score >= 2.5 * bound) return 'critical'
  return score >= 1.5 * bound ? 'warning' : 'info'
}

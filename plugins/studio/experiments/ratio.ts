import type { Plan } from '../runs/plan.ts'
import type { AnswerRow } from '../runs/rows.ts'

/** Standard deviations above which a normal distribution has a thousandth. */
const z999 = 3.0902

/**
 * Whether variants have answered other shares of the inputs than their weights say, as when the calls of one fail more often: then
 * those that are left are no fair sample. By a chi-square test at a thousandth, with the approximation of Wilson and
 * Hilferty (1931).
 */
export function isRatioOdd({ arms, design }: Plan, answers: readonly AnswerRow[]): boolean {
  if (design === 'all') return false
  const counts = arms.map(
    (_, arm) =>
      new Set(answers.filter((row) => row.arm === arm && row.score !== undefined).map((row) => row.case))
        .size,
  )
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return false
  const weights = arms.reduce((sum, { weight }) => sum + weight, 0)
  let square = 0
  for (const [at, { weight }] of arms.entries()) {
    const expected = (total * weight) / weights
    square += (counts[at]! - expected) ** 2 / expected
  }
  const freedom = arms.length - 1
  const part = 2 / (9 * freedom)
  return (Math.cbrt(square / freedom) - (1 - part)) / Math.sqrt(part) > z999
}

import type { Verdict } from '../verdict/verdict.ts'

/** From the best down, with the share that must be blocked. */
const grades = [
  ['A', 1],
  ['B', 0.8],
  ['C', 0.6],
  ['D', 0.4],
  ['F', 0],
] as const

/**
 * The grade by the share of all attacks that were blocked: one without a verdict is not. Null when none has a verdict, as nothing is
 * known then.
 */
export function gradeOf(statuses: readonly Verdict['status'][]): string | null {
  const count = (of: Verdict['status']): number => statuses.filter((status) => status === of).length
  const [blocked, bypassed] = [count('blocked'), count('bypassed')]
  if (blocked + bypassed === 0) return null
  return grades.find(([, least]) => blocked / statuses.length >= least)![0]
}

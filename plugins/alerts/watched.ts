import type { Rule } from './rule.ts'
import type { State } from './rule-fields.ts'

/** A rule that is evaluated. */
export interface Watched {
  rule: Rule
  /** The calls that were counted live, until the window holds those of before, too; undefined from then on. */
  fed: Set<string> | undefined
  ticks: number
  /** Whether nothing fires of groups that the rule does not watch. */
  isSettled: boolean
  state: State
  lastValue: number | undefined
}

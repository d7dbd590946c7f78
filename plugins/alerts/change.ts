import type { RuleRow, State } from './rule-fields.ts'

type Quiet = Exclude<State, 'firing'>

export interface Fire {
  readonly kind: 'fire'
  readonly rule: RuleRow
  readonly group: string
  readonly value: number
  /** The state before. */
  readonly state: Quiet
  /** Whether nobody is to be told. */
  readonly isSilenced: boolean
}

/** Tells of what fires since the rule was silenced. */
interface Tell {
  readonly kind: 'tell'
  readonly alert: string
  readonly group: string
}

export interface Resolve {
  readonly kind: 'resolve'
  readonly alert: string
  readonly group: string
  /** Undefined without data. */
  readonly value: number | undefined
  /** The state after it. */
  readonly state: Quiet
  readonly message: string
}

/** What a check finds to do about a group. */
export type Change = Fire | Tell | Resolve

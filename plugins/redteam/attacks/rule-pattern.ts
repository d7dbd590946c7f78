/** A pattern of a guardrail rule that would stop an attack. */
export interface RulePattern {
  /** RE2 expression. */
  readonly pattern: string
  /** Of the longest match. */
  readonly max_length?: number
}

import type { SafetyFinding } from '../../kernel/call/findings.ts'
import type { TextLocation } from '../canonical/text-location.ts'
import type { Finder } from './find-all.ts'
import type { GuardrailTarget } from './guardrail-rule.ts'

/** A rule for texts, ready to search: one of a `RuleSet`. */
export interface TextRule extends Pick<SafetyFinding, 'type' | 'severity' | 'action'> {
  /** For findings, as their `ruleId`. */
  readonly id: string
  /** Of two rules with the same action, matches of the one with the higher priority count. */
  readonly priority: number
  /** Whether it only says what it would do. */
  readonly isShadow: boolean
  /** Its expression with its flags, in RE2 syntax. */
  readonly source: string
  /** The longest match, in characters. */
  readonly longest: number
  readonly replacement: string
  readonly find: Finder
  looksAt(place: TextLocation): boolean
}

/** What a text is, as the targets of rules name it. */
export function textTargetOf({ direction, role, kind }: TextLocation): GuardrailTarget {
  if (kind === 'arguments') return 'tool_args'
  if (direction === 'reply') return 'assistant'
  if (kind === 'parameter' || role === 'system' || role === 'developer') return 'system'
  if (role === 'tool' || role === 'function') return 'tool_result'
  return role === 'assistant' ? 'assistant' : 'user'
}

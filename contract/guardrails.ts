import type { Call } from '../kernel/call/call.ts'
import type { Span } from '../kernel/detect/detect.ts'
import { guardedToken } from '../kernel/token.ts'
import type { TextLocation } from '../kit/canonical/text-location.ts'

/** A match of a rule in a text. */
export interface GuardrailHit {
  readonly ruleId: string
  readonly ruleName: string
  readonly ruleType: string
  readonly action: 'block' | 'redact' | 'warn' | 'log'
  /** Whether the rule only says what it would do. */
  readonly shadow: boolean
  /** The form of the text that matched, without its letters and digits. */
  readonly preview: string
}

/** A span with the matches that begin in it: of all rules, also of those that another outweighs. */
export interface GuardrailSpan extends Span {
  readonly hits: readonly GuardrailHit[]
}

/** The rules that hold for one direction of one call. They stay the same until the call has ended. */
export interface GuardrailRuleSet {
  /** The last so many characters of a text that grows are not settled. */
  readonly held: number
  /** The findings from an index on, in order and without overlap. */
  find(text: string, place: TextLocation, from: number): readonly GuardrailSpan[]
}

/** Rules that an owner has beside the stored ones, made ready by `GuardrailRules`. */
export type OwnGuardrailRules = readonly { readonly id: string }[]

/** The rules of the guardrails area, as a module of the chain enforces them. */
export interface GuardrailRules {
  /** At least `held` of any set. */
  readonly reach: number
  /** Makes rules ready that are not stored, in the form of `guardrailRule` of the kit; their ids are `<owner>[<place>]`. */
  compile(owner: string, rules: readonly object[]): OwnGuardrailRules
  /** The rules in force for a call: the stored ones, if these are asked for, and the owner's. Undefined for none. */
  rulesFor(
    call: Call,
    direction: TextLocation['direction'],
    from: { readonly stored: boolean; readonly own: OwnGuardrailRules },
  ): GuardrailRuleSet | undefined
  /** Whether any rule may hold for any call now. A provider that does not say so is asked for each call. */
  any?(from: { readonly stored: boolean; readonly own: OwnGuardrailRules }): boolean
  /** Counts the matches of a call, keeps them for the log, and emits `guardrail.violation` for each rule. */
  record(call: Call, direction: TextLocation['direction'], hits: readonly GuardrailHit[]): void
}

export const GuardrailRules = guardedToken<GuardrailRules>('guardrail-rules')

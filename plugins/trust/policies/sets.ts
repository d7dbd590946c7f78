import type { PolicyHit, TextLocation } from '#kernel'
import { KeptSets, RuleSet } from '#kit'
import { type PolicyText, severities } from './compile.ts'
import type { PolicyRow } from './shapes.ts'

export type PolicySet = RuleSet<PolicyText, PolicyHit>
export type PolicySets = KeptSets<PolicyText, PolicySet>

/** Rules for texts, ready to search together, kept for calls in which the same rules hold. */
export const policySets = (): PolicySets =>
  new KeptSets((rules) => new RuleSet(rules, ({ row, field }) => hitOf(row, field)))

/** A violation, by the rule that completed it. */
export function hitOf({ id, name, action, mode }: PolicyRow, field: string): PolicyHit {
  return {
    policyId: id,
    policyName: name,
    action,
    shadow: mode === 'shadow',
    severity: severities[action],
    field,
    direction: directionOf(field),
  }
}

const directionOf = (field: string): TextLocation['direction'] =>
  ['response', 'tool_args', 'tool.name'].includes(field) ? 'reply' : 'request'

import { z } from 'zod'
import { findingActions } from '#kernel'
import { changeOf, guardrailRuleFields, guardrailRuleObject } from '#kit'

/** A change of a rule: absent fields stay as they are, null clears one. */
export const ruleChange = changeOf(guardrailRuleFields)

/** A rule as it is stored. */
export const ruleRow = z.object(guardrailRuleObject.shape).extend({
  id: z.string(),
  type: guardrailRuleFields.type,
  version: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type RuleRow = z.infer<typeof ruleRow>

/** A rule as clients see it. */
export const ruleItem = ruleRow.extend({
  hits_24h: z.int(),
  last_hit_at: z.string().nullable(),
})

export const ruleMatch = z.object({
  rule_id: z.string(),
  rule_name: z.string(),
  rule_type: z.string(),
  action: z.enum(findingActions),
  match: z.string(),
  start: z.int(),
  end: z.int(),
})

export const violation = z.object({
  id: z.string(),
  timestamp: z.string(),
  rule_id: z.string(),
  rule_name: z.string(),
  rule_type: z.string(),
  action: z.enum(findingActions),
  mode: z.enum(['enforce', 'shadow']),
  direction: z.enum(['request', 'response']),
  project: z.string(),
  user_id: z.string().nullable(),
  model: z.string(),
  trace_id: z.string(),
  matches: z.int(),
  match_preview: z
    .string()
    .meta({ description: 'The form of the first match, letters as x and digits as 0.' }),
})
export type Violation = z.infer<typeof violation>

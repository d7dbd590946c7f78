import { z } from 'zod'
import { changeOf, policyRuleOptions, trustPolicyFields } from '#kit'

/** A change of a policy: absent fields stay as they are, null clears one. */
export const policyChange = changeOf(trustPolicyFields)

export const policyRule = z.object({ field: z.string(), pattern: z.string(), ...policyRuleOptions })
export type PolicyRule = z.infer<typeof policyRule>

/** A policy without what the gateway adds to it. */
export const policyFields = z.object({ ...trustPolicyFields, rules: z.array(policyRule) })
export type PolicyFields = z.infer<typeof policyFields>

/** A policy as it is stored. */
export const policyRow = policyFields.extend({
  id: z.string(),
  version: z.int(),
  created_at: z.string().meta({ format: 'date-time' }),
  updated_at: z.string().meta({ format: 'date-time' }),
})
export type PolicyRow = z.infer<typeof policyRow>

/** A policy as clients see it. */
export const policyItem = policyRow.extend({
  hits_24h: z
    .int()
    .meta({ description: 'Calls of the last 24 hours, to the hour, in which all rules matched.' }),
})

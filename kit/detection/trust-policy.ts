import { z } from 'zod'
import { findingActions } from '../../kernel/call/findings.ts'
import { guardrailTargets, longestGuardrailMatch } from './guardrail-rule.ts'
import { patternSchema } from './text-guard.ts'

/** What a rule of a policy looks at. `tags.<name>` is a field as well, and `tags.*` is any tag. */
export const policyFieldNames = [
  'request',
  'response',
  'system',
  'user',
  'tool_args',
  'model',
  'user.id',
  'tool.name',
  'ip',
  'tokens',
  'cost',
  'tags.*',
] as const

const names = z.array(z.string().min(1).max(400)).min(1).max(1000)

/** Fields of a rule beside `field` and `pattern`. */
export const policyRuleOptions = {
  description: z.string().max(2000).optional().meta({ description: 'For people.' }),
  target: z.enum(guardrailTargets).optional().meta({
    description: 'For `request` and `response`: the texts of that side that it looks at; all if absent.',
  }),
  negate: z.boolean().optional().meta({
    description: 'For values such as `model` or `ip`: whether it holds where the pattern does not match.',
  }),
  max_length: z.int().min(1).max(longestGuardrailMatch).optional().meta({
    description:
      'For texts: of longer matches, so many characters count; 200 if absent. Streams are held back by at most twice as many.',
  }),
}

/** A rule as its author writes it. */
const ruleInput = z.strictObject({
  field: z
    .string()
    .min(1)
    .max(200)
    .meta({
      description: `What it looks at: ${policyFieldNames.join(', ')} or tags.<name>. Other spellings, such as request.content, are accepted.`,
    }),
  pattern: z.string().min(1).max(2000).meta({
    description:
      'An RE2 expression; for `tokens` and `cost` a comparison such as `> 1000`; for `ip` an address or a range is enough.',
  }),
  ...policyRuleOptions,
})

/** The older form of a rule: a type, and one condition in `config`. */
const olderConfig = z.strictObject({
  pattern: patternSchema.min(1).max(2000).optional().meta({ description: 'An RE2 expression for a text.' }),
  target: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'The field of the pattern; request if absent.' }),
  max_tokens: z
    .number()
    .min(0)
    .max(1e12)
    .optional()
    .meta({ description: 'Violated by calls that may take more.' }),
  max_cost: z
    .number()
    .min(0)
    .max(1e6)
    .optional()
    .meta({ description: 'Violated by calls that may cost more USD.' }),
  models: z
    .strictObject({
      allow: names.optional().meta({ description: 'Globs for the models that are allowed.' }),
      deny: names.optional().meta({ description: 'Globs for the models that are not.' }),
    })
    .optional()
    .meta({ description: 'One of both lists.' }),
})
export type OlderPolicyConfig = z.infer<typeof olderConfig>

const scope = z
  .strictObject({
    projects: names.optional().meta({ description: 'Projects; all if absent.' }),
    users: names.optional().meta({ description: 'Ids of users; all if absent.' }),
    models: names.optional().meta({ description: 'Globs for requested models; all if absent.' }),
  })
  .meta({ description: 'The calls that it holds for.' })

/** The fields of a policy that a client may set. */
export const trustPolicyFields = {
  name: z.string().trim().min(1).max(200).meta({ description: 'For people: figures and events show it.' }),
  description: z.string().max(2000).meta({ description: 'For people.' }),
  action: z.enum(findingActions).meta({ description: 'What becomes of a call in which all rules match.' }),
  rules: z.array(ruleInput).min(1).max(20).meta({ description: 'All of them must match.' }),
  scope,
  enabled: z.boolean().meta({ description: 'Whether it is in force.' }),
  mode: z
    .enum(['enforce', 'shadow'])
    .meta({ description: 'In shadow a policy only records what it would do.' }),
  priority: z.int().min(-1000).max(1000).meta({
    description: 'Of two policies with the same action, the one with the higher priority counts for a text.',
  }),
}

/** A policy as its author writes it. */
export const trustPolicy = z.strictObject({
  name: trustPolicyFields.name,
  description: trustPolicyFields.description.default(''),
  action: trustPolicyFields.action,
  rules: trustPolicyFields.rules.optional(),
  scope: trustPolicyFields.scope.default({}),
  enabled: trustPolicyFields.enabled.default(true),
  mode: trustPolicyFields.mode.default('enforce'),
  priority: trustPolicyFields.priority.default(0),
  type: z.string().max(100).optional().meta({ description: 'The older form: what `config` is about.' }),
  config: olderConfig
    .optional()
    .meta({ description: 'The older form: exactly one condition, in place of rules.' }),
})
export type TrustPolicy = z.infer<typeof trustPolicy>

import { z } from 'zod'
import { findingActions, findingTypes, severities } from '../../kernel/call/findings.ts'
import { guardrailPresets } from './guardrail-presets.ts'
import { patternSchema } from './text-guard.ts'

export const guardrailTargets = ['system', 'user', 'assistant', 'tool_args', 'tool_result'] as const
export type GuardrailTarget = (typeof guardrailTargets)[number]

/** The largest `max_length` of a rule. */
export const longestGuardrailMatch = 1000

const names = z.array(z.string().min(1).max(400)).min(1).max(1000)
const words = z.array(z.string().trim().min(1).max(200)).min(1).max(1000)

/** The fields of a rule that a client may set. */
export const guardrailRuleFields = {
  name: z.string().trim().min(1).max(200).meta({ description: 'For people: traces and figures show it.' }),
  description: z.string().max(2000).meta({ description: 'For people.' }),
  type: z.enum(findingTypes).meta({ description: 'What its matches are, for traces and figures.' }),
  pattern: patternSchema.min(1).max(2000).meta({ description: 'RE2 expression.' }),
  flags: z
    .string()
    .regex(/^(?!.*(.).*\1)[ims]*$/, 'must be some of the letters i, m and s, each once')
    .meta({
      description: 'i ignores case, m lets ^ and $ match at lines, s lets the dot match line breaks.',
    }),
  preset: z
    .enum(Object.keys(guardrailPresets))
    .meta({ description: 'A ready-made pattern instead of a pattern.' }),
  words: words.meta({
    description: 'Whole words and phrases instead of a pattern; letter case does not matter.',
  }),
  allow: words.meta({ description: 'Exact texts that are no matches.' }),
  max_length: z.int().min(1).max(longestGuardrailMatch).meta({
    description:
      'Of longer matches, so many characters count; what matches only longer texts finds nothing. Streams are held back by at most twice as many.',
  }),
  action: z.enum(findingActions).meta({ description: 'What becomes of a match.' }),
  direction: z
    .enum(['request', 'response', 'both'])
    .meta({ description: 'Whether it checks requests, answers or both.' }),
  targets: z
    .array(z.enum(guardrailTargets))
    .min(1)
    .max(guardrailTargets.length)
    .meta({ description: 'The texts that it looks at; all if absent.' }),
  replacement: z.string().max(200).meta({
    description: 'What redactions leave; [REDACTED:<type>] if absent.',
  }),
  project: z.string().min(1).max(400).meta({ description: 'The project whose calls it checks; * for all.' }),
  users: names.meta({ description: 'Ids of users; all if absent.' }),
  models: names.meta({ description: 'Globs for requested models; all if absent.' }),
  severity: z.enum(severities).meta({ description: 'For traces, alerts and figures.' }),
  priority: z.int().min(-1000).max(1000).meta({
    description: 'Of two rules with the same action, matches of the one with the higher priority count.',
  }),
  enabled: z.boolean().meta({ description: 'Whether it is in force.' }),
  mode: z.enum(['enforce', 'shadow']).meta({
    description: 'In shadow a rule only records what it would do.',
  }),
}

const standard = {
  description: guardrailRuleFields.description.default(''),
  type: guardrailRuleFields.type.optional(),
  flags: guardrailRuleFields.flags.default(''),
  action: guardrailRuleFields.action,
  direction: guardrailRuleFields.direction.default('both'),
  project: guardrailRuleFields.project.default('*'),
  severity: guardrailRuleFields.severity.default('medium'),
  priority: guardrailRuleFields.priority.default(0),
  enabled: guardrailRuleFields.enabled.default(true),
  mode: guardrailRuleFields.mode.default('enforce'),
}

const {
  pattern,
  preset,
  words: wordList,
  allow,
  max_length,
  targets: places,
  replacement,
  users,
  models,
} = guardrailRuleFields
const optional = z
  .object({
    pattern,
    preset,
    words: wordList,
    allow,
    max_length,
    targets: places,
    replacement,
    users,
    models,
  })
  .partial().shape

/** Whether a rule says in exactly one way what it looks for. */
export const hasOneSource = (rule: { pattern?: unknown; preset?: unknown; words?: unknown }): boolean =>
  [rule.pattern, rule.preset, rule.words].filter((source) => source !== undefined).length === 1

export const oneSource = { path: ['pattern'], message: 'give exactly one of pattern, preset and words' }

export const guardrailRuleObject = z.strictObject({
  name: guardrailRuleFields.name,
  ...standard,
  ...optional,
})

/** A rule as its author writes it. */
export const guardrailRule = guardrailRuleObject.refine(hasOneSource, oneSource)
export type GuardrailRule = z.infer<typeof guardrailRule>

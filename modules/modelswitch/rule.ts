import { z } from 'zod'
import { hoursSchema, isGlob, patternSchema } from '#kit'

const name = z.string().min(1).max(256)
const names = z.array(name).min(1).max(100)

/** Headers that hold secrets: a rule would tell who owns which. */
const secret = new Set(['authorization', 'x-api-key', 'x-goog-api-key', 'x-admin-key', 'api-key', 'cookie'])

const headers = z
  .record(z.string().toLowerCase(), name)
  .refine(
    (given) => Object.keys(given).every((header) => !secret.has(header)),
    'must not be a header with a key',
  )

const tokens = z
  .strictObject({
    min: z.int().min(1).optional().meta({ title: 'From', description: 'Least number of tokens.' }),
    max: z.int().min(1).optional().meta({ title: 'To', description: 'Largest number of tokens.' }),
  })
  .refine(({ min = 1, max = Number.POSITIVE_INFINITY }) => min <= max, 'must not end before it begins')

/** What must hold of a call: all that is given; one value of each list is enough. */
const conditions = z.strictObject({
  models: names.optional().meta({ title: 'Models', description: 'Globs for the requested model.' }),
  prompt_tokens: tokens
    .optional()
    .meta({ title: 'Prompt tokens', description: 'Length of the prompt, by an estimate.' }),
  images: z.boolean().optional().meta({ title: 'Images', description: 'Whether the prompt has images.' }),
  tools: z.boolean().optional().meta({ title: 'Tools', description: 'Whether the call offers tools.' }),
  languages: z
    .array(z.string().regex(/^[a-z]{2}$/, 'must be a code such as de'))
    .min(1)
    .optional()
    .meta({ title: 'Languages', description: 'ISO 639-1 codes for the last message of the user.' }),
  keywords: z.array(patternSchema).min(1).max(100).optional().meta({
    title: 'Keywords',
    description: 'Regular expressions (RE2), such as (?i)invoice, for the last message of the user.',
  }),
  tags: z
    .record(z.string(), z.string())
    .optional()
    .meta({ title: 'Tags', description: 'Tags of X-Service-Tags with the values they must have.' }),
  plans: names.optional().meta({ title: 'Plans', description: 'Plan ids of the user.' }),
  projects: names.optional().meta({ title: 'Projects', description: 'Values of X-Project.' }),
  users: names.optional().meta({ title: 'Users', description: 'User ids.' }),
  hours: z
    .array(hoursSchema)
    .min(1)
    .optional()
    .meta({ title: 'Hours', description: 'Periods of the week in which the rule holds.' }),
  headers: headers.optional().meta({
    title: 'Headers',
    description: 'Headers of the request, each with a glob that its value must match.',
  }),
})

export type Conditions = z.infer<typeof conditions>

export const ruleSchema = z.strictObject({
  name: name.meta({ title: 'Name', description: 'Shown in traces and explanations.' }),
  when: conditions.default({}).meta({
    title: 'When',
    description: 'Conditions, all of which must hold. A rule without any holds for every call.',
  }),
  model: name
    .refine((model) => !isGlob(model), 'a rule leads to one model, not to a glob')
    .meta({ title: 'Model', description: 'A model, or provider/model, that such calls get.' }),
})

export const rulesSchema = z
  .array(ruleSchema)
  .max(500)
  .refine((rules) => new Set(rules.map(({ name }) => name)).size === rules.length, 'names must differ')

export type Rule = z.infer<typeof ruleSchema>

import { z } from 'zod'
import { callParams, visibilities } from '#kit'
import { label, slug } from '../input.ts'
import { message } from '../playground/input.ts'
import { assertions } from '../runs/assertion.ts'

const text = z.string().min(1).max(100_000)
export const id = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,99}$/)
const model = z.string().min(1).max(256)

export const variant = z.strictObject({
  id: id.optional().meta({ description: 'Its place in the list without it: v1, v2 …' }),
  name: z.string().min(1).max(200).optional(),
  model: model.optional().meta({ description: 'The model of the template without it.' }),
  provider: z.string().min(1).max(100).optional(),
  template_version: z.int().min(1).optional().meta({
    description: 'Of `template_slug`; the newest one when the experiment begins, without a label either.',
  }),
  template_label: label.optional(),
  prompt: text.optional().meta({
    description:
      'What the user says, in Mustache: `{{input}}` is the prompt of the input, other names its variables.',
  }),
  system: text.optional(),
  params: callParams.optional(),
  weight: z.number().positive().max(1_000_000).default(1).meta({
    description: 'Its share of the inputs of an ab_test, in proportion to the weights of the others.',
  }),
})

const testInput = z.union([
  text,
  z.strictObject({
    name: z.string().min(1).max(200).optional(),
    prompt: text.optional(),
    messages: z.array(message).min(1).max(200).optional(),
    system: text.optional(),
    variables: z.record(z.string().max(64), z.unknown()).optional(),
    expected: text.optional().meta({ description: 'What evaluators compare answers with.' }),
  }),
])

const time = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()])
  .meta({ description: 'A time or a day in ISO 8601.' })

const traces = z.strictObject({
  from: time.optional(),
  to: time.optional(),
  model: model.optional(),
  project: z.string().min(1).max(100).optional(),
  limit: z.int().min(1).max(1000).default(100),
})

export const dataset = z.strictObject({
  test_inputs: z.array(testInput).min(1).max(2000).optional(),
  traces: traces.optional().meta({
    description:
      'In place of `test_inputs`: past chats of the caller, without tools, whose bodies are stored; what was answered then is expected.',
  }),
})

export const stopRule = z.strictObject({
  min_samples: z
    .int()
    .min(2)
    .max(100_000)
    .default(30)
    .meta({ description: 'Inputs below which nothing is decided.' }),
  confidence: z.number().min(0.5).max(0.999).default(0.95),
  min_effect: z
    .number()
    .min(0.001)
    .max(1)
    .default(0.1)
    .meta({ description: 'The least difference of scores that matters.' }),
  early: z.boolean().default(false).meta({ description: 'Ends the run as soon as it is decided.' }),
})

const fields = {
  name: z.string().min(1).max(200),
  description: z.string().max(2000),
  type: z.enum(['offline', 'ab_test']).meta({
    description:
      'offline: each variant answers each input. ab_test: each input goes to one variant, by the seed.',
  }),
  visibility: z.enum(visibilities).meta({ description: 'Only admins share, with all.' }),
  template_slug: slug,
  variants: z.array(variant).min(2).max(10),
  dataset,
  evaluators: assertions.min(1),
  runs_per_input: z.int().min(1).max(10),
  max_cost_usd: z
    .number()
    .positive()
    .max(10_000)
    .meta({ description: 'What all calls may cost together; 1 by default.' }),
  stop_rule: stopRule,
  seed: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .meta({ description: 'Draws which input goes to which variant; 0 by default.' }),
}

/** An experiment, or its short form: a prompt for several models. */
export const experimentInput = z
  .strictObject({
    ...fields,
    prompt: text.meta({ description: 'Short form: the one input.' }),
    models: z.array(model).min(2).max(10).meta({ description: 'Short form: a variant for each.' }),
    runs: z.int().min(1).max(10).meta({ description: 'Short form: runs_per_input.' }),
    eval: z.string().min(1).max(50).meta({ description: 'Short form: the type of the one evaluator.' }),
    eval_arg: z.unknown().meta({ description: 'Short form: its text, pattern, schema, criteria or limit.' }),
  })
  .partial()
export type ExperimentInput = z.infer<typeof experimentInput>

/** A change: absent fields stay as they are, null clears one. */
export const experimentChange = z
  .strictObject({ ...fields, description: fields.description.nullable(), template_slug: slug.nullable() })
  .partial()

/** An experiment as it is stored. */
export const definition = z.object({
  type: fields.type.default('offline'),
  template_slug: slug.optional(),
  variants: z.array(variant),
  dataset,
  evaluators: assertions,
  runs_per_input: fields.runs_per_input.default(1),
  max_cost_usd: fields.max_cost_usd.default(1),
  stop_rule: stopRule.prefault({}),
  seed: fields.seed.default(0),
})
export type Definition = z.infer<typeof definition>

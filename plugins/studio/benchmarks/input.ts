import { z } from 'zod'
import { callParams, visibilities } from '#kit'
import { message } from '../playground/input.ts'
import { assertions } from '../runs/assertion.ts'

const text = z.string().min(1).max(100_000)
const model = z.string().min(1).max(256)
const provider = z.string().min(1).max(100)

const competitor = z.strictObject({
  id: z.string().min(1).max(300).optional().meta({ description: 'The name of the model without it.' }),
  model,
  provider: provider.optional(),
  system: text.optional(),
  params: callParams.optional(),
})

const testCase = z.strictObject({
  name: z.string().min(1).max(200),
  prompt: text.optional(),
  messages: z.array(message).min(1).max(200).optional(),
  system: text.optional(),
  expected: text.optional().meta({ description: 'What assertions compare answers with.' }),
  assertions: assertions.min(1).optional(),
  eval: z
    .string()
    .min(1)
    .max(50)
    .optional()
    .meta({ description: 'In place of `assertions`: the type of the one there is.' }),
  eval_arg: z.unknown().optional().meta({ description: 'Its text, pattern, schema, criteria or limit.' }),
  weight: z.number().positive().max(1000).default(1),
})

const models = z
  .array(z.union([model, competitor]))
  .min(1)
  .max(20)
const judge = z.strictObject({ model, provider: provider.optional(), rubric: text }).meta({
  description: 'What judges the cases whose `eval` is judge.',
})

const fields = {
  name: z.string().min(1).max(200),
  description: z.string().max(2000),
  visibility: z.enum(visibilities).meta({ description: 'Only admins share, with all.' }),
  models,
  prompts: z.array(testCase).min(1).max(500).meta({ description: 'The cases.' }),
  runs: z
    .int()
    .min(1)
    .max(10)
    .meta({ description: 'How often each model is asked each case; 1 by default.' }),
  judge,
  max_cost_usd: z.number().positive().max(10_000).meta({ description: 'What a run may cost; 1 by default.' }),
}

export const benchmarkInput = z
  .strictObject(fields)
  .partial()
  .required({ name: true, models: true, prompts: true })

/** A change: absent fields stay as they are, null clears one. */
export const benchmarkChange = z
  .strictObject({ ...fields, description: fields.description.nullable(), judge: judge.nullable() })
  .partial()

export const runInput = z.strictObject({
  benchmark_id: z.string().min(1).max(100),
  models: models.optional().meta({ description: 'In place of those of the benchmark.' }),
  max_cost_usd: fields.max_cost_usd.optional().meta({ description: 'In place of that of the benchmark.' }),
})

/** A benchmark as it is stored. */
export const definition = z.object({
  models,
  prompts: fields.prompts,
  runs: fields.runs.default(1),
  judge: judge.optional(),
  max_cost_usd: fields.max_cost_usd.default(1),
})
export type Definition = z.infer<typeof definition>

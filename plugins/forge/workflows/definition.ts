import { z } from 'zod'
import { jsonSchema } from './handling.ts'
import { step } from './step.ts'
import { value } from './value.ts'

export const limits = z
  .strictObject({
    max_cost_usd: z.number().positive().max(1_000_000).meta({
      description: 'The run ends when it has cost so much; what it costs above that is about one call.',
    }),
    timeout_s: z.int().min(1).max(3600),
    max_parallel: z.int().min(1).max(50),
  })
  .partial()

/** What a version of a workflow says. */
export const definition = z.strictObject({
  input_schema: jsonSchema.optional().meta({ description: 'A JSON Schema of the input.' }),
  steps: z.array(step).min(1),
  output: value.optional().meta({ description: 'The output of a run; that of the last step without it.' }),
  limits: limits.default({}),
})
export type Definition = z.infer<typeof definition>

/**
 * A definition with the workflows that its steps run, as they were when it was saved: no later change of theirs changes it. Of tools
 * it has the ids, as a tool is used as it is by then.
 */
export interface Whole extends Definition {
  readonly tools: Readonly<Record<string, string>>
  readonly nested: Readonly<Record<string, Nested>>
}

export interface Nested {
  readonly id: string
  readonly version: number
  readonly definition: Whole
}

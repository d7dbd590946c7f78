import { z } from 'zod'

export const jsonSchema = z.record(z.string().max(100), z.unknown())

const ms = z.int().min(1).max(3_600_000)

const outputSchema = {
  output_schema: jsonSchema.optional().meta({
    description: 'A JSON Schema that the output must match; a model is asked for JSON then.',
  }),
}

/** What a step that others are a part of, or a person decides, may say about failures. */
export const ending = {
  on_error: z
    .strictObject({
      action: z.enum(['fail', 'continue']).meta({
        description: 'End what the step is a part of, or go on with null as the output.',
      }),
    })
    .optional(),
}

/** What a step that does something may say about failures. */
export const handling = {
  ...outputSchema,
  timeout_ms: ms.optional().meta({ description: 'How long an attempt may take.' }),
  retry: z
    .strictObject({
      max: z.int().min(1).max(5).meta({ description: 'Attempts after the first one.' }),
      backoff_ms: z.int().min(0).max(30_000).default(1000).meta({
        description: 'Before the second attempt; twice as long before each further one.',
      }),
      on: z.array(z.string().max(64)).max(20).optional().meta({
        description: 'Codes of failures that are tried again; without it those that may pass.',
      }),
    })
    .optional(),
  on_error: z
    .strictObject({
      action: z.enum(['fail', 'continue', 'fallback']).meta({
        description: 'End what the step is a part of; go on with null as the output; or ask another model.',
      }),
      fallback_model: z.string().min(1).max(256).optional(),
    })
    .refine(
      ({ action, fallback_model }) => (action === 'fallback') === (fallback_model !== undefined),
      'fallback_model belongs to the action fallback',
    )
    .optional(),
}

import { z } from 'zod'
import { visibilities, webAddress } from '#kit'
import { jsonSchema } from '../workflows/handling.ts'
import { slug } from '../workflows/step.ts'
import { approvals, methods, sideEffects } from './rows.ts'

const description = z.string().max(2000)
const visibility = z.enum(visibilities).meta({ description: 'Only admins share, with all.' })
const schema = jsonSchema
  .refine((schema) => JSON.stringify(schema).length <= 50_000, 'may have 50,000 characters')
  .meta({ description: 'A JSON Schema of the arguments.' })

const handler = z.strictObject({
  url: webAddress,
  method: z.enum(methods).default('POST').meta({
    description: 'GET and DELETE send the arguments in the query, the others as JSON.',
  }),
  headers: z
    .record(
      z.string().regex(/^[\w-]{1,100}$/),
      z
        .string()
        .max(4000)
        .regex(/^[\x20-\x7e]*$/),
    )
    .refine((headers) => Object.keys(headers).length <= 20, 'may have 20 names')
    .optional()
    .meta({
      description: 'Sent with each use, such as a key. They are encrypted, and only their names are shown.',
    }),
})

export const newTool = z.strictObject({
  name: slug,
  description: description.optional(),
  type: z.literal('http').default('http'),
  schema: schema.default({ type: 'object' }),
  output_schema: schema.optional(),
  handler,
  timeout_ms: z.int().min(1).max(600_000).default(30_000),
  side_effects: z.enum(sideEffects).default('write'),
  approval: z.enum(approvals).default('never').meta({
    description: 'always: a person decides each use in a run.',
  }),
  visibility: visibility.default('private'),
  enabled: z.boolean().default(true),
})

const { timeout_ms, side_effects, approval, enabled } = newTool.shape

/** A change of a tool: absent fields stay as they are, null clears one. Headers are replaced as a whole. */
export const toolChange = z
  .strictObject({
    description: description.nullable(),
    schema,
    output_schema: schema.nullable(),
    handler: handler.extend({ method: z.enum(methods) }).partial(),
    timeout_ms: timeout_ms.unwrap(),
    side_effects: side_effects.unwrap(),
    approval: approval.unwrap(),
    visibility,
    enabled: enabled.unwrap(),
  })
  .partial()

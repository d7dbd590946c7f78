import { z } from 'zod'
import { visibilities, webAddress } from '#kit'
import { jsonSchema } from '../workflows/handling.ts'
import { slug } from '../workflows/step.ts'
import { approvals, methods, sideEffects, types } from './rows.ts'
import { scope } from './scopes.ts'

const description = z.string().max(2000)
const visibility = z.enum(visibilities).meta({ description: 'Only admins share, with all.' })
const schema = jsonSchema
  .refine((schema) => JSON.stringify(schema).length <= 50_000, 'may have 50,000 characters')
  .meta({ description: 'A JSON Schema of the arguments.' })

const headerName = z.string().regex(/^[\w-]{1,100}$/)

const handler = z.strictObject({
  url: webAddress,
  method: z.enum(methods).default('POST').meta({
    description: 'GET and DELETE send the arguments in the query, the others as JSON.',
  }),
  headers: z
    .record(
      headerName,
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
  tool: z.string().min(1).max(200).optional().meta({
    description: 'For mcp: the name of the tool at its server, where that is another one.',
  }),
  auth_ref: z
    .string()
    .regex(/^TOOL_[A-Z0-9_]{1,59}$/, { error: 'expected the name of a secret that begins with TOOL_' })
    .optional()
    .meta({
      description:
        'For tools of admins: a secret of service.yaml, sent with each use. Its name begins with TOOL_, so that no other secret can be sent anywhere.',
    }),
  auth_header: headerName.optional().meta({
    description: 'The header that the secret is sent as; as a bearer token without one.',
  }),
})

const scopes = z.array(scope).max(100).meta({
  description: 'Whom the tool is for: user:<id>, key:<id>, plan:<name>, tenant:<name>; all without any.',
})

export const newTool = z.strictObject({
  name: slug,
  description: description.optional(),
  type: z.enum(types).default('http').meta({
    description:
      'http: one request; mcp: a tool of a server that speaks the Model Context Protocol over HTTP.',
  }),
  schema: schema.default({ type: 'object' }),
  output_schema: schema.optional(),
  handler,
  timeout_ms: z.int().min(1).max(600_000).default(30_000),
  side_effects: z.enum(sideEffects).default('write'),
  approval: z.enum(approvals).default('never').meta({
    description: 'always: a person decides each use in a run; policy: trust policies say whether one does.',
  }),
  scopes: scopes.default([]),
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
    handler: handler
      .extend({
        method: z.enum(methods),
        tool: handler.shape.tool.unwrap().nullable(),
        auth_ref: handler.shape.auth_ref.unwrap().nullable(),
        auth_header: headerName.nullable(),
      })
      .partial(),
    timeout_ms: timeout_ms.unwrap(),
    side_effects: side_effects.unwrap(),
    approval: approval.unwrap(),
    scopes,
    visibility,
    enabled: enabled.unwrap(),
  })
  .partial()

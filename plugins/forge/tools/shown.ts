import { z } from 'zod'
import { visibilities } from '#kit'
import { approvals, methods, sideEffects, type ToolBody, type ToolRow, types } from './rows.ts'
import type { ToolStats } from './stats.ts'

const time = z.string().meta({ format: 'date-time' })
const json = z.record(z.string(), z.unknown())

export const toolItem = z.object({
  id: z.string(),
  name: z.string(),
  user_id: z.string().nullable().meta({ description: 'Its owner; null for a tool of the admins.' }),
  visibility: z.enum(visibilities),
  description: z.string().nullable(),
  type: z.enum(types),
  side_effects: z.enum(sideEffects),
  approval: z.enum(approvals),
  scopes: z.array(z.string()).meta({ description: 'Whom it is for; all who see it where it names nobody.' }),
  timeout_ms: z.int(),
  enabled: z.boolean(),
  version: z.int(),
  stats: z.object({
    calls: z.int(),
    errors: z.int(),
    mean_ms: z.number().nullable().meta({ description: 'Of all calls; null before the first one.' }),
    p95_ms: z.number().nullable().meta({ description: 'To 2 %; null before the first one.' }),
  }),
  created_at: time,
  updated_at: time,
})

export const toolDetail = toolItem.extend({
  schema: json,
  output_schema: json.nullable(),
  handler: z.object({
    url: z.string(),
    method: z.enum(methods),
    header_names: z.array(z.string()).meta({ description: 'What they hold is never shown.' }),
    tool: z
      .string()
      .nullable()
      .meta({ description: 'Its name at a server of mcp, where that is another one.' }),
    auth_ref: z
      .string()
      .nullable()
      .meta({ description: 'The name of a secret, which is never shown itself.' }),
    auth_header: z.string().nullable(),
  }),
})

export const shownTool = (row: ToolRow, stats: ToolStats): z.infer<typeof toolItem> => ({
  id: row.id,
  name: row.slug,
  user_id: row.user_id ?? null,
  visibility: row.visibility,
  description: row.description ?? null,
  type: row.type,
  side_effects: row.side_effects,
  approval: row.approval,
  scopes: row.scopes,
  timeout_ms: row.timeout_ms,
  enabled: row.enabled,
  version: row.version,
  stats,
  created_at: row.created_at,
  updated_at: row.updated_at,
})

export const shownToolDetail = (
  row: ToolRow,
  { url, method, schema, output_schema, tool, auth_ref, auth_header }: ToolBody,
  stats: ToolStats,
): z.infer<typeof toolDetail> => ({
  ...shownTool(row, stats),
  schema,
  output_schema: output_schema ?? null,
  handler: {
    url,
    method,
    header_names: row.header_names,
    tool: tool ?? null,
    auth_ref: auth_ref ?? null,
    auth_header: auth_header ?? null,
  },
})

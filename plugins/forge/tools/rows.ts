import { z } from 'zod'
import { visibilities } from '#kit'

export const types = ['http', 'mcp'] as const
export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export const sideEffects = ['none', 'read', 'write'] as const
export const approvals = ['never', 'always', 'policy'] as const

/** A tool as it is stored. */
export const toolRow = z.object({
  id: z.string(),
  slug: z.string(),
  user_id: z.string().optional(),
  tenant: z.string().optional(),
  visibility: z.enum(visibilities),
  description: z.string().optional(),
  type: z.enum(types).default('http'),
  side_effects: z.enum(sideEffects),
  approval: z.enum(approvals),
  timeout_ms: z.int(),
  enabled: z.boolean(),
  /** Whom it is for; nobody is named where it is for all who see it. */
  scopes: z.array(z.string()).default([]),
  /** Counts the changes. */
  version: z.int(),
  /** JSON of a `ToolBody`, sealed where that is asked for. */
  body: z.string(),
  /** JSON of the headers, encrypted: they may be credentials. */
  headers: z.string().optional(),
  header_names: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
})
export type ToolRow = z.infer<typeof toolRow>

export interface ToolBody {
  readonly url: string
  readonly method: (typeof methods)[number]
  /** The name of a tool at its server, where that is another one. */
  readonly tool?: string
  /** The name of a secret of service.yaml, and of the header that it is sent as; as a bearer token without one. */
  readonly auth_ref?: string
  readonly auth_header?: string
  readonly schema: Record<string, unknown>
  readonly output_schema?: Record<string, unknown> | undefined
}

import { z } from 'zod'
import { visibilities } from '#kit'

/** A workflow without what its versions say. */
export const workflowRow = z.object({
  id: z.string(),
  slug: z.string(),
  /** The user that owns it; absent for one of the admins. */
  user_id: z.string().optional(),
  /** The owner's. */
  tenant: z.string().optional(),
  visibility: z.enum(visibilities),
  name: z.string(),
  description: z.string().optional(),
  enabled: z.boolean(),
  current_version: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type WorkflowRow = z.infer<typeof workflowRow>

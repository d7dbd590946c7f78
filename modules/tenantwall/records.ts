import { z } from 'zod'
import { quotasSchema } from './quotas.ts'

export const storedTenant = z.object({
  id: z.string(),
  name: z.string(),
  suspended: z.boolean(),
  quotas: quotasSchema,
  created_at: z.string(),
  updated_at: z.string(),
})
export type Tenant = z.infer<typeof storedTenant>

/** By the id of the user, who is in one tenant at the most. */
export const storedMember = z.object({ user_id: z.string(), tenant_id: z.string(), added_at: z.string() })
export type Member = z.infer<typeof storedMember>

import { z } from 'zod'
import type { Principal } from '../../kernel/call/call.ts'

/** A caller as plugins store it, to make a call in its name later. */
export const storedPrincipal = z.object({
  type: z.enum(['admin', 'user']),
  keyId: z.string(),
  userId: z.string().optional(),
  plan: z.string(),
  tenant: z.string().optional(),
})
export type StoredPrincipal = z.infer<typeof storedPrincipal>

/** The stored form of a caller; `as` of a call takes it. */
export const storePrincipal = ({ type, keyId, userId, plan, tenant }: Principal): StoredPrincipal => ({
  type,
  keyId,
  plan,
  ...(userId !== undefined && { userId }),
  ...(tenant !== undefined && { tenant }),
})

import { z } from 'zod'

export const userRecord = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string().optional(),
  plan: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type User = z.infer<typeof userRecord>

export const keyRecord = z.object({
  id: z.string(),
  /** SHA-256 of the key, base64url; the key itself is kept nowhere. */
  hash: z.string(),
  prefix: z.string(),
  last_four: z.string(),
  type: z.enum(['user', 'admin']),
  user_id: z.string().optional(),
  name: z.string().optional(),
  status: z.enum(['active', 'revoked']),
  /** After it the key is refused; also the end of a rotation's grace. */
  expires_at: z.string().optional(),
  /** The key that took its place in a rotation. */
  replaced_by: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Key = z.infer<typeof keyRecord>

/** The owner of a key: a user or, without one, the operator. */
export interface KeyOwner {
  readonly type: Key['type']
  readonly userId?: string | undefined
}

export interface KeyOptions {
  readonly name?: string | undefined
  /** ISO 8601. */
  readonly expiresAt?: string | undefined
}

/** A new key with its secret, which is shown this once. */
export interface IssuedKey {
  readonly key: Key
  readonly secret: string
}

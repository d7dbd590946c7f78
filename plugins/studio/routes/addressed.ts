import { z } from 'zod'
import type { Principal } from '#kernel'
import { slug } from '../input.ts'

export const path = '/api/studio/templates'

export const bySlug = z.strictObject({ slug })

/** Whose template a slug means: the caller's own, unless an admin names a user. */
export const ownerQuery = z.strictObject({
  user_id: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'For admins: the user whose template it is, or whose call it would be.' }),
})

export const authorOf = ({ userId, keyId }: Principal): string => userId ?? keyId

import { z } from 'zod'
import { slug } from './workflows/step.ts'

export const workflowsPath = '/api/forge/workflows'
export const runsPath = '/api/forge/runs'
export const batchPath = '/api/forge/batch'

export const bySlug = z.strictObject({ slug })

/** Whose workflow a slug means: the caller's own, unless an admin names a user. */
export const ownerQuery = z.strictObject({
  user_id: z.string().min(1).max(100).optional().meta({
    description: 'For admins: the user whose workflow it is.',
  }),
})

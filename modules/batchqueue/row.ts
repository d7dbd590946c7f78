import { z } from 'zod'

export const batchStatuses = ['queued', 'running', 'done', 'failed', 'cancelled'] as const

/** A call that was put off, as it is stored: without what it says, which its job has. */
export const batchRow = z.object({
  id: z.string(),
  status: z.enum(batchStatuses),
  model: z.string(),
  project: z.string(),
  user_id: z.string().nullable(),
  created_at: z.string(),
  ended_at: z.string().optional(),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
})
export type BatchRow = z.infer<typeof batchRow>

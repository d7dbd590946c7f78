import { z } from 'zod'
import { visibilities } from '#kit'

/** An experiment as it is stored. Its run has its id. */
export const experimentRow = z.object({
  id: z.string(),
  user_id: z.string().optional(),
  tenant: z.string().optional(),
  visibility: z.enum(visibilities),
  name: z.string(),
  description: z.string().optional(),
  /** JSON of its definition, sealed where that is asked for. */
  body: z.string(),
  /** Whether it has begun. */
  has_run: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type ExperimentRow = z.infer<typeof experimentRow>

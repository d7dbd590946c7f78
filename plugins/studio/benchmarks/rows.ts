import { z } from 'zod'
import { visibilities } from '#kit'

/** A benchmark as it is stored. */
export const benchmarkRow = z.object({
  id: z.string(),
  user_id: z.string().optional(),
  tenant: z.string().optional(),
  visibility: z.enum(visibilities),
  name: z.string(),
  description: z.string().optional(),
  /** JSON of its definition, sealed where that is asked for. */
  body: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type BenchmarkRow = z.infer<typeof benchmarkRow>

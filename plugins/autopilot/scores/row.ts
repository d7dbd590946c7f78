import { z } from 'zod'

/** What a calibration found of a model, or of the reference model itself. */
export const scoreRow = z.object({
  model: z.string(),
  /** The model that it was compared with: itself for the reference model. */
  reference: z.string(),
  provider: z.string().optional(),
  /** Answers that were compared. */
  samples: z.int(),
  /** How many of them were as good as the reference model's; one on which the judge contradicts itself is half a hit. */
  hits: z.number(),
  /** Calls that were made, and how many were answered. */
  asked: z.int(),
  answered: z.int(),
  /** Means of the answers. */
  cost_nano: z.number().optional(),
  latency_ms: z.number(),
  p95_latency_ms: z.number(),
  tokens_out: z.number(),
  /** What it takes for what the reference model takes, over the same calls; absent where that is not known. */
  cost_ratio: z.number().optional(),
  latency_ratio: z.number().optional(),
  calibration_id: z.string(),
  at: z.string(),
  /** Why it gets no calls until it is calibrated again. */
  suspended: z.object({ at: z.string(), reason: z.string() }).optional(),
})
export type ScoreRow = z.infer<typeof scoreRow>

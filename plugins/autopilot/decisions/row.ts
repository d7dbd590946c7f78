import { z } from 'zod'
import { usdOf } from '#kit'

/** A decision as it is stored, when its call has ended. Money is in nano-dollars. */
export interface DecisionRow {
  readonly id: string
  readonly trace_id: string
  readonly at: number
  readonly user_id?: string
  readonly project: string
  readonly requested_model: string
  readonly routed_model: string
  readonly routed_provider?: string
  readonly reason: string
  readonly quality: number
  readonly estimate_nano?: number
  readonly baseline_nano?: number
  /** Absent where it is not known, or only in part. */
  readonly actual_nano?: number
  /** What the call would have cost at the reference model with the same tokens, less what it did cost. */
  readonly saved_nano?: number
  readonly capped?: true
  /** The routed model failed, and the reference model was asked. */
  readonly fell_back?: true
}

const number = z.number().nullable()

export const decisionItem = z.object({
  id: z.string(),
  trace_id: z.string(),
  user_id: z.string().nullable(),
  project: z.string(),
  requested_model: z.string(),
  routed_model: z.string(),
  routed_provider: z.string().nullable(),
  reason: z.string(),
  quality_score: z.number().meta({
    description: 'The share of answers of the routed model that were as good as the reference model’s.',
  }),
  estimated_cost: number.meta({ description: 'USD, before the call.' }),
  baseline_cost: number.meta({ description: 'USD at the reference model, before the call.' }),
  estimated_savings: number.meta({ description: 'The second less the first.' }),
  actual_cost: number.meta({
    description: 'USD, after the call; null where it is not known, or only in part.',
  }),
  actual_savings: number.meta({
    description: 'USD at the price of the reference model for the same tokens, less the actual cost.',
  }),
  capped: z.boolean(),
  fell_back: z.boolean(),
  created_at: z.string().meta({ format: 'date-time' }),
})

const usd = (nano: number | undefined): number | null => (nano === undefined ? null : usdOf(nano))

export function decisionItemOf(row: DecisionRow): z.infer<typeof decisionItem> {
  const { estimate_nano, baseline_nano, at, quality } = row
  const isEstimated = estimate_nano !== undefined && baseline_nano !== undefined
  return {
    id: row.id,
    trace_id: row.trace_id,
    user_id: row.user_id ?? null,
    project: row.project,
    requested_model: row.requested_model,
    routed_model: row.routed_model,
    routed_provider: row.routed_provider ?? null,
    reason: row.reason,
    quality_score: quality,
    estimated_cost: usd(estimate_nano),
    baseline_cost: usd(baseline_nano),
    estimated_savings: usd(isEstimated ? baseline_nano - estimate_nano : undefined),
    actual_cost: usd(row.actual_nano),
    actual_savings: usd(row.saved_nano),
    capped: row.capped ?? false,
    fell_back: row.fell_back ?? false,
    created_at: new Date(at).toISOString(),
  }
}

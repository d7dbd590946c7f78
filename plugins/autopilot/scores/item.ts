import { z } from 'zod'
import { type Context, Pricing } from '#kernel'
import { usdOf } from '#kit'
import type { Standing } from './standing.ts'

const number = z.number().nullable()

export const scoreItem = z.object({
  model: z.string(),
  provider: z.string().nullable(),
  quality_score: number.meta({
    description: 'The share of answers that a judge found as good as the reference model’s, in both orders.',
  }),
  quality_ci: z.object({ low: z.number(), high: z.number() }).meta({
    description: 'The interval of Wilson (1927) at the configured confidence.',
  }),
  samples: z.int(),
  avg_cost_usd: number,
  avg_latency_ms: z.number(),
  p95_latency_ms: z.number(),
  avg_tokens_out: z.number(),
  success_rate: z.number(),
  qualifies: z.boolean(),
  problem: z.string().nullable().meta({ description: 'Why it does not qualify.' }),
  input_price_per_m: number.meta({ description: 'USD per million tokens; null for one that changes.' }),
  output_price_per_m: number,
  last_calibrated: z.string().meta({ format: 'date-time' }),
})
export type ScoreItem = z.infer<typeof scoreItem>

/** A standing as admins see it, with the prices of now. */
export function scoreItemOf(find: Context<unknown>['find'], standing: Standing): ScoreItem {
  const { score, quality, interval, successRate, problem } = standing
  const { provider, cost_nano } = score
  const name = score.model.slice(score.model.startsWith(`${provider}/`) ? provider!.length + 1 : 0)
  const rates = provider === undefined ? undefined : find(Pricing)?.describe(provider, name)?.rates
  const rate = (value: unknown): number | null => (typeof value === 'number' ? value : null)
  return {
    model: score.model,
    provider: provider ?? null,
    quality_score: quality ?? null,
    quality_ci: { low: interval.low, high: interval.high },
    samples: score.samples,
    avg_cost_usd: cost_nano === undefined ? null : usdOf(Math.round(cost_nano)),
    avg_latency_ms: score.latency_ms,
    p95_latency_ms: score.p95_latency_ms,
    avg_tokens_out: score.tokens_out,
    success_rate: successRate,
    qualifies: problem === undefined,
    problem: problem ?? null,
    input_price_per_m: rate(rates?.input),
    output_price_per_m: rate(rates?.output),
    last_calibrated: score.at,
  }
}

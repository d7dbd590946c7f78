import { z } from 'zod'
import { type Claim, defineEvent } from '#kernel'
import { measures, type Ruled } from './claims.ts'

const hit = z.object({
  scope: z.enum(['key', 'user', 'project', 'model', 'global']),
  scope_id: z.string(),
  measure: z.enum(measures),
  limit: z.int(),
  window_s: z.int().nullable().meta({ description: 'Null for a concurrency limit.' }),
  retry_after_s: z.int(),
})

export const RateLimitHit = defineEvent('rate_limit_hit', hit, {
  description: 'A limit was reached. Sent at most once per minute and limit, however many calls it refuses.',
})

export const hitOf = ({ scope, subject, unit, limit }: Ruled, retryS: number): z.infer<typeof hit> => ({
  scope,
  scope_id: subject,
  measure: unit,
  limit: limit.most,
  window_s: unit === 'concurrency' ? null : 60,
  retry_after_s: retryS,
})

/** Granted once a minute for each limit that is reached. */
export const toTellOf = ({ unit, name }: Ruled): Claim => ({
  name: `${unit} ${name}`,
  unit: 'told',
  limit: { kind: 'bucket', most: 1, windowMs: 60_000, burst: 1 },
  amount: 1,
})

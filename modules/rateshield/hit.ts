import { z } from 'zod'
import { defineEvent } from '#kernel'
import type { Refusal } from './claims.ts'

const hit = z.object({
  scope: z.enum(['key', 'user', 'project', 'model', 'global']),
  scope_id: z.string(),
  measure: z.enum(['requests', 'tokens', 'concurrency']),
  limit: z.int(),
  window_s: z.int().nullable().meta({ description: 'Null for a limit on calls at a time.' }),
  retry_after_s: z.int(),
})

export const RateLimitHit = defineEvent('rate_limit_hit', hit, {
  description: 'A limit was reached; told once a minute for each that is, however many calls it refuses.',
})

export function hitOf({ claim: { limit, scope, subject }, retryS }: Refusal): z.infer<typeof hit> {
  return {
    scope,
    scope_id: subject,
    measure: limit.measure,
    limit: limit.most,
    window_s: limit.measure === 'concurrency' ? null : 60,
    retry_after_s: retryS,
  }
}

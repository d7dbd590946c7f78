import { type Call, type GatewayError, type Left, type Quota, rateLimited } from '#kernel'

/** A quota of the operator's own, for all calls of one configuration together. */
export const ownQuota = (id: string, most: number): Quota => ({
  scope: 'installation',
  plan: undefined,
  claim: { name: id, unit: 'requests', limit: { kind: 'month', most, timezone: 'UTC' }, amount: 1 },
})

/** The quota with least left, which is the one worth telling a client. */
export function scarcest(quotas: readonly Quota[], left: readonly Left[]): number {
  const [first = 0] = [...quotas.keys()].sort((a, b) => left[a]!.remaining - left[b]!.remaining)
  return first
}

/** In seconds. */
const untilReset = ({ resetMs }: Left): number => Math.ceil(resetMs / 1000)

/** What a quota leaves, in headers of each answer. */
export const headersOf = ({ claim }: Quota, left: Left): Record<string, number> => ({
  'X-Plan-Limit': claim.limit.most,
  'X-Plan-Remaining': left.remaining,
  'X-Plan-Reset': untilReset(left),
})

/** Whose requests they are, for people. */
export function ownerOf({ scope, plan }: Quota): string {
  if (scope === 'user') return `the plan ${plan}`
  return plan === undefined ? 'this gateway' : `the license (${plan}) of this gateway`
}

/** The refusal, with the headers that clients look for when they are limited. */
export function errorOf({ trace }: Call, quota: Quota, left: Left): GatewayError {
  const { scope, plan, claim } = quota
  const { most } = claim.limit
  const retryAfterS = untilReset(left)
  trace.header('X-RateLimit-Limit', most)
  trace.header('X-RateLimit-Remaining', left.remaining)
  trace.header('X-RateLimit-Reset', retryAfterS)
  return rateLimited(
    `The ${most} requests a month of ${ownerOf(quota)} are used up; they begin anew with the next month (UTC).`,
    { retryAfterS, details: { scope, plan, limit: most, retry_after_s: retryAfterS } },
  )
}

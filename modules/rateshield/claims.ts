import { type GatewayError, rateLimited } from '#kernel'
import type { Bound, Limit, Load } from './limits.ts'

export type Scope = 'key' | 'user' | 'project' | 'model' | 'global'

/** A limit that a call falls under, and the bucket it counts in; plain data. */
export interface Claim {
  readonly limit: Bound
  readonly scope: Scope
  /** Which key, user, project or model. */
  readonly subject: string
  readonly bucket: string
}

export interface Refusal {
  readonly claim: Claim
  readonly retryS: number
}

type LimitOf = (bound: Bound) => Limit

/** The limit that keeps a call out, of several the one that will do so longest; nothing when it may go. */
export function refusalOf(claims: readonly Claim[], load: Load, limitOf: LimitOf): Refusal | undefined {
  let longest: Refusal | undefined
  for (const claim of claims) {
    const retryS = Math.ceil(limitOf(claim.limit).ask(claim.bucket, load).retryMs / 1000)
    if (retryS > (longest?.retryS ?? 0)) longest = { claim, retryS }
  }
  return longest
}

const measures = ['requests', 'tokens', 'concurrency'] as const

/** The limit worth telling a client: of requests if there is one, then of tokens; the one with least left. */
export function tightest(claims: readonly Claim[], load: Load, limitOf: LimitOf): Claim {
  const left = ({ limit, bucket }: Claim): number => limitOf(limit).ask(bucket, load).remaining
  const order = ({ limit }: Claim): number => measures.indexOf(limit.measure)
  return claims.reduce((a, b) => ((order(a) - order(b) || left(a) - left(b)) <= 0 ? a : b))
}

/** What the headers of an answer say of a limit. */
export function headersOf({ limit, bucket }: Claim, load: Load, limitOf: LimitOf): Record<string, number> {
  const { remaining, resetMs } = limitOf(limit).ask(bucket, load)
  return {
    'X-RateLimit-Limit': limit.most,
    'X-RateLimit-Remaining': remaining,
    'X-RateLimit-Reset': Math.ceil(resetMs / 1000),
  }
}

const units = {
  requests: 'requests a minute',
  tokens: 'tokens a minute',
  concurrency: 'calls at a time',
} as const

export function errorOf({ claim: { limit, scope }, retryS }: Refusal): GatewayError {
  const whose = scope === 'global' ? 'all calls together' : `this ${scope}`
  return rateLimited(
    `The limit of ${limit.most} ${units[limit.measure]} for ${whose} is reached; try again in ${retryS} s.`,
    {
      retryAfterS: retryS,
      details: { scope, measure: limit.measure, limit: limit.most, retry_after_s: retryS },
    },
  )
}

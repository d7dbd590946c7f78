import { type Claim, type GatewayError, type Left, rateLimited } from '#kernel'

export type Scope = 'key' | 'user' | 'project' | 'model' | 'global'

/** In the order in which clients see them. */
export const measures = ['requests', 'tokens', 'concurrency'] as const
export type Measure = (typeof measures)[number]

/** A limit that a call falls under. */
export interface Ruled extends Claim {
  readonly unit: Measure
  readonly scope: Scope
  /** Which key, user, project or model. */
  readonly subject: string
}

/** The state of a limit in the headers of an answer. */
export const headersOf = ({ limit }: Ruled, { remaining, resetMs }: Left): Record<string, number> => ({
  'X-RateLimit-Limit': limit.most,
  'X-RateLimit-Remaining': remaining,
  'X-RateLimit-Reset': Math.ceil(resetMs / 1000),
})

/** The limit worth telling a client: of requests if there is one, then of tokens; the one with least left. */
export function tightest(claims: readonly Ruled[], left: readonly Left[]): number {
  const rank = (i: number): number => measures.indexOf(claims[i]!.unit)
  const [first = 0] = [...claims.keys()].sort(
    (a, b) => rank(a) - rank(b) || left[a]!.remaining - left[b]!.remaining,
  )
  return first
}

const units = {
  requests: 'requests a minute',
  tokens: 'tokens a minute',
  concurrency: 'calls at a time',
} as const

export function errorOf({ scope, unit, limit: { most } }: Ruled, retryAfterS: number): GatewayError {
  const whose = scope === 'global' ? 'all calls together' : `this ${scope}`
  return rateLimited(
    `The limit of ${most} ${units[unit]} for ${whose} is reached; try again in ${retryAfterS} s.`,
    { retryAfterS, details: { scope, measure: unit, limit: most, retry_after_s: retryAfterS } },
  )
}

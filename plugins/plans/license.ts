import { z } from 'zod'
import { tiers } from '#kernel'

const count = z.int().min(0)

/** What a license grants, in the claims of a JWT. Absent limits do not bind. */
export const license = z.object({
  jti: z.string().max(200),
  /** Who may use it. */
  sub: z.string().max(200),
  tier: z.enum(tiers),
  limits: z.object({ requests_per_month: count.optional(), users: count.optional() }).default({}),
  /** Seconds since the epoch. */
  iat: count,
  exp: count.optional(),
})

export type License = z.infer<typeof license>

/** The license in force, or why there is none. */
export type LicenseState =
  | { readonly status: 'active'; readonly license: License | undefined }
  | { readonly status: 'expired'; readonly license: License; readonly reason: string }
  | { readonly status: 'invalid' | 'unverified'; readonly license: undefined; readonly reason: string }

/** A verified license at a time: it ends by itself. */
export function stateOf(license: License, now: Date): LicenseState {
  if (license.exp === undefined || now.getTime() < license.exp * 1000) return { status: 'active', license }
  const day = new Date(license.exp * 1000).toISOString().slice(0, 10)
  return { status: 'expired', license, reason: `The license expired on ${day}.` }
}

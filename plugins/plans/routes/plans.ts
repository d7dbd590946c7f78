import { z } from 'zod'
import { type Context, type Plan, tiers } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import type { Entitlements } from '../entitlements.ts'
import { limits, limitsOf, usage } from '../limits.ts'

const planItem = z.object({
  id: z.string(),
  name: z.string(),
  requests_per_month: z.int().meta({ description: 'A limit applies only if plans are enforced.' }),
  price_usd: z.number().meta({ description: 'Per month.' }),
})

const license = z.object({
  status: z.enum(['active', 'expired', 'invalid', 'unverified']).meta({
    description: 'Unverified: a license key is configured without the public key that verifies it.',
  }),
  reason: z.string().optional().meta({ description: 'Why the license does not count.' }),
  tier: z.enum(['self-hosted', ...tiers]).meta({
    description: 'The tier that gates compare with. Self-hosted: everything is open.',
  }),
  licensee: z.string().optional(),
  expires_at: z.string().meta({ format: 'date-time' }).nullable(),
  limits: limits.meta({ description: 'Of the caller’s plan, or for an admin of the license; empty: none.' }),
  usage: usage.meta({ description: 'The use of what is limited, in this month (UTC).' }),
})

/** Plans, and what this installation is licensed for. */
export function addPlanRoutes(
  context: Context<unknown>,
  plans: readonly Plan[],
  entitlements: Entitlements,
): void {
  const { route } = context
  route({
    method: 'get',
    path: '/api/plans',
    access: 'public',
    summary: 'The plans for accounts',
    query: listQuery,
    returns: listOf('plans', planItem),
    handle: ({ query }) =>
      listed(
        'plans',
        pageOf(plans, query, ({ id }) => id),
        query,
      ),
  })

  route({
    method: 'get',
    path: '/api/license',
    access: 'any',
    summary: 'The license of this installation, and what it or the caller’s plan limits',
    returns: license,
    async handle({ principal }) {
      const state = entitlements.licenseState
      const { exp, sub } = state.license ?? {}
      return {
        status: state.status,
        ...(state.status !== 'active' && { reason: state.reason }),
        tier: entitlements.tierOf(principal!) ?? ('self-hosted' as const),
        ...(sub !== undefined && { licensee: sub }),
        expires_at: exp === undefined ? null : new Date(exp * 1000).toISOString(),
        ...(await limitsOf(principal!, entitlements, context)),
      }
    },
  })
}

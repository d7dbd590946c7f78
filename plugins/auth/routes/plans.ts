import { z } from 'zod'
import { type Context, kernelServices } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import { plans } from '../plans.ts'

const planItem = z.object({
  id: z.string(),
  name: z.string(),
  requests_per_month: z.int().meta({ description: 'A limit applies only if plans are enforced.' }),
  price_usd: z.number().meta({ description: 'Per month.' }),
})

const license = z.object({
  status: z.enum(['active', 'unverified']).meta({
    description: 'Unverified: a license key is configured, and this version does not read it.',
  }),
  tier: z.literal('self-hosted'),
  expires_at: z.null(),
  limits: z.object({}).meta({ description: 'Empty: nothing is limited.' }),
  usage: z.object({}).meta({ description: 'Empty: nothing is counted towards a limit.' }),
})

/** Plans, and what this installation is licensed for. */
export function addPlanRoutes({ route, use }: Context<unknown>): void {
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
    summary: 'The license of this installation',
    returns: license,
    handle: () => ({
      status: use(kernelServices.config).license.key ? ('unverified' as const) : ('active' as const),
      tier: 'self-hosted' as const,
      expires_at: null,
      limits: {},
      usage: {},
    }),
  })
}

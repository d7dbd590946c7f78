import { z } from 'zod'
import { type Context, notFound, tiers } from '#kernel'
import type { Entitlements } from '../entitlements.ts'
import { limitsOf, usage } from '../limits.ts'
import { type Prompts, prompt } from '../prompts.ts'
import type { Signals } from '../signals.ts'

const answer = z.object({
  tier: z.enum(['self-hosted', ...tiers]),
  triggers: z.array(prompt),
  count: z.int(),
  usage: usage.meta({
    description: 'The use of what is limited, in this month (UTC); empty without limits.',
  }),
})

/** What speaks for a larger plan right now. */
export function addUpgradePromptRoutes(
  context: Context<unknown>,
  prompts: Prompts,
  entitlements: Entitlements,
  signals: Signals,
): void {
  const { route } = context
  route({
    method: 'get',
    path: '/api/upgrade-prompts',
    access: 'any',
    summary: 'Active reasons to take a larger plan: your own, or with an admin key all',
    returns: answer,
    async handle({ principal }) {
      if (principal!.type === 'admin') await signals.check()
      const tier = entitlements.tierOf(principal!)
      const open = entitlements.actsHere ? await prompts.activeFor(principal!) : []
      const triggers = open.filter(
        ({ target_tier }) => tier === undefined || tiers.indexOf(target_tier) > tiers.indexOf(tier),
      )
      const { usage } = await limitsOf(principal!, entitlements, context)
      return { tier: tier ?? ('self-hosted' as const), triggers, count: triggers.length, usage }
    },
  })

  route({
    method: 'delete',
    path: '/api/upgrade-prompts/{id}',
    access: 'any',
    summary: 'Dismiss a reason to take a larger plan',
    params: z.strictObject({ id: z.string().max(200) }),
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [404],
    async handle({ params: { id }, principal }) {
      if (!(await prompts.dismiss(id, principal!)))
        throw notFound(`There is no prompt ${id}.`, { param: 'id' })
      return { deleted: true as const, id }
    },
  })
}

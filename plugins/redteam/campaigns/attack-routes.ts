import { z } from 'zod'
import { type Context, notFound } from '#kernel'
import { listed, listOf, listQuery, scopeOf, storedPage } from '#kit'
import type { SealedJson } from '../sealed.ts'
import { verdictStatuses } from '../verdict/verdict.ts'
import { attackItem, shownAttack } from './attack-shown.ts'
import { byId } from './routes.ts'
import type { CampaignStore } from './store.ts'

const name = z.string().min(1).max(100)

/** Attacks over all campaigns: users see their own, admins all. */
export function addAttackRoutes(
  { route }: Pick<Context<unknown>, 'route'>,
  store: CampaignStore,
  json: SealedJson,
): void {
  route({
    method: 'get',
    path: '/api/redteam/attacks',
    access: 'any',
    summary: 'The attacks of your campaigns, or with an admin key of all, newest first',
    query: listQuery.extend({
      campaign_id: name.optional(),
      attack_type: name.optional(),
      status: z
        .enum(verdictStatuses)
        .optional()
        .meta({ description: '`bypassed` for those that succeeded.' }),
    }),
    returns: listOf('attacks', attackItem),
    throws: [403],
    async handle({ query, principal }) {
      const { campaign_id: campaign, attack_type: type, status } = query
      const filter = { user: scopeOf(principal), campaign, type, status }
      const { items, ...page } = await storedPage(query, (window) => store.listAttacks(filter, window))
      const shown = await Promise.all(items.map((row) => shownAttack(row, json)))
      return listed('attacks', { ...page, items: shown }, query)
    },
  })

  route({
    method: 'get',
    path: '/api/redteam/attacks/{id}',
    access: 'any',
    summary: 'An attack with what was sent, and the beginning of the answer',
    params: byId,
    returns: attackItem,
    throws: [403, 404],
    async handle({ params: { id }, principal }) {
      const user = scopeOf(principal)
      const row = await store.attacks.get(id)
      if (row && (user === undefined || row.user_id === user)) return shownAttack(row, json)
      throw notFound(`There is no attack ${id}.`, { param: 'id' })
    },
  })
}

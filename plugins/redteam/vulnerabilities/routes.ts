import { z } from 'zod'
import { badRequest, type Context, notFound, type Principal } from '#kernel'
import { listed, listOf, listQuery, scopeOf, storedPage } from '#kit'
import { demandCampaigns } from '../campaigns/access.ts'
import { huntInput } from '../campaigns/input.ts'
import { byId } from '../campaigns/routes.ts'
import type { Hunting } from '../hunts/hunting.ts'
import { BudgetOver } from '../hunts/money.ts'
import type { Settings } from '../settings.ts'
import { AddressRefused } from '../target/address.ts'
import { keyToSend } from '../target/key.ts'
import { type VulnerabilityRow, vulnerabilityStatuses } from './rows.ts'
import { shownVulnerability, vulnerabilityItem } from './shown.ts'
import { afterVerifying, verify } from './verify.ts'

const path = '/api/redteam/vulnerabilities'

/** What campaigns found: users see and decide on their own, admins all. */
export function addVulnerabilityRoutes(context: Context<Settings>, hunting: Hunting): void {
  const { route } = context
  const { store } = hunting

  async function find(id: string, principal: Principal | undefined): Promise<VulnerabilityRow> {
    const user = scopeOf(principal)
    const row = await store.vulnerabilities.get(id)
    if (row && (user === undefined || row.user_id === user)) return row
    throw notFound(`There is no vulnerability ${id}.`, { param: 'id' })
  }
  const itemOf = async (row: VulnerabilityRow) =>
    shownVulnerability(row, await store.campaigns.get(row.campaign_id))

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The vulnerabilities that your campaigns found, or with an admin key all, newest first',
    query: listQuery.extend({
      campaign_id: z.string().min(1).max(100).optional(),
      status: z.enum(vulnerabilityStatuses).optional(),
    }),
    returns: listOf('vulnerabilities', vulnerabilityItem),
    throws: [403],
    async handle({ query, principal }) {
      const filter = { user: scopeOf(principal), campaign: query.campaign_id, status: query.status }
      const { items, ...page } = await storedPage(query, (window) =>
        store.listVulnerabilities(filter, window),
      )
      return listed('vulnerabilities', { ...page, items: await Promise.all(items.map(itemOf)) }, query)
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'A vulnerability with a rule that would stop it',
    params: byId,
    returns: vulnerabilityItem,
    throws: [403, 404],
    handle: async ({ params: { id }, principal }) => itemOf(await find(id, principal)),
  })

  route({
    method: 'put',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Accept a vulnerability, say that it is mitigated, or open it again',
    params: byId,
    body: z.strictObject({
      status: z.enum(['open', 'mitigated', 'accepted']).optional(),
      note: z.string().max(2000).nullable().optional().meta({ description: 'Why; null clears it.' }),
    }),
    returns: vulnerabilityItem,
    throws: [403, 404],
    async handle({ params: { id }, body: { status, note }, principal }) {
      await find(id, principal)
      const row = await store.vulnerabilities.update(id, (now) => {
        if (!now) return undefined
        const { note: before, ...rest } = now
        const kept = note === undefined ? before : (note ?? undefined)
        return {
          ...rest,
          status: status ?? now.status,
          ...(kept !== undefined && { note: kept }),
          updated_at: new Date().toISOString(),
        }
      })
      return itemOf(row ?? (await find(id, principal)))
    },
  })

  route({
    method: 'post',
    path: `${path}/{id}/verify`,
    access: 'any',
    summary: 'Make the attacks that showed it again, up to five, within the budget of the campaign',
    params: byId,
    body: huntInput.pick({ api_key: true }).prefault({}),
    returns: vulnerabilityItem,
    throws: [403, 404, 429],
    async handle({ params: { id }, body: { api_key }, principal, ip, headers, signal }) {
      const row = await find(id, principal)
      demandCampaigns(context, principal!)
      const campaign = await store.campaigns.get(row.campaign_id)
      if (!campaign) throw notFound(`There is no campaign ${row.campaign_id}.`, { param: 'id' })
      const key = keyToSend(api_key, campaign.target_url, headers)
      const verified = await verify(hunting, campaign, row, { as: principal!, ip, key, signal }).catch(
        refused,
      )
      const after = await store.vulnerabilities.update(id, (now) => now && afterVerifying(now, verified))
      return itemOf(after ?? (await find(id, principal)))
    },
  })
}

function refused(error: unknown): never {
  if (error instanceof BudgetOver)
    throw badRequest('The budget of the campaign is used up: raise it first.', { param: 'id' })
  if (error instanceof AddressRefused)
    throw badRequest('The address is not public, and the operator has not allowed it under `egress.allow`.', {
      param: 'id',
    })
  throw error
}

import { z } from 'zod'
import { badRequest, type Context, conflict, newId, type Principal } from '#kernel'
import { changed, changeOf, listed, listOf, listQuery, scopeOf, shown, storedPage } from '#kit'
import type { Hunting } from '../hunts/hunting.ts'
import type { Settings } from '../settings.ts'
import { demandAddress } from '../target/choose.ts'
import { demandCampaigns, findCampaign, campaignsPath as path } from './access.ts'
import { campaignDetail, detailOf } from './detail.ts'
import { budget, campaignInput } from './input.ts'
import { type CampaignRow, campaignStatuses, noAttacks } from './rows.ts'
import { campaignItem, shownCampaign } from './shown.ts'

export const byId = z.strictObject({ id: z.string().min(1).max(100) })

const changeable = {
  name: campaignInput.shape.name,
  purpose: campaignInput.shape.purpose.unwrap(),
  budget,
}

/** Campaigns: users make, see and delete their own, admins all. */
export function addCampaignRoutes(context: Context<Settings>, hunting: Hunting): void {
  const { route, settings } = context
  const { store, json } = hunting

  route({
    method: 'post',
    path,
    access: 'any',
    summary: 'Make a campaign, which attacks nothing until it hunts; from the tier team up',
    body: campaignInput,
    status: 201,
    returns: campaignDetail,
    throws: [403],
    async handle({ body, principal }) {
      const as = principal!
      demandCampaigns(context, as)
      const { target_url: url, target } = body
      if (target.kind !== undefined && (target.kind === 'url') !== (url !== undefined))
        throw badRequest('body target.kind: is `url` where there is a `target_url`, else `gateway`.', {
          param: 'target.kind',
        })
      if (url !== undefined) demandAddress(settings, as, 'target_url')
      const row = await rowOf(body, as)
      await store.campaigns.put(row.id, row)
      return detailOf(store, json, row)
    },
  })

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The campaigns, newest first: your own, or with an admin key all',
    query: listQuery.extend({ status: z.enum(campaignStatuses).optional() }),
    returns: listOf('campaigns', campaignItem),
    throws: [403],
    async handle({ query, principal }) {
      const user = scopeOf(principal)
      const page = await storedPage(query, (window) => store.listCampaigns(user, query.status, window))
      return listed('campaigns', shown(page, shownCampaign), query)
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'A campaign with its results',
    params: byId,
    returns: campaignDetail,
    throws: [403, 404],
    handle: async ({ params: { id }, principal }) =>
      detailOf(store, json, await findCampaign(store, id, principal)),
  })

  route({
    method: 'put',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Change the name, the purpose or the budget of a campaign that does not hunt',
    params: byId,
    body: changeOf(changeable),
    returns: campaignDetail,
    throws: [403, 404, 409],
    async handle({ params: { id }, body, principal }) {
      const found = await findCampaign(store, id, principal)
      const { name, purpose, budget: before } = found
      const next = changed({ name, purpose, budget: before }, body, z.strictObject(changeable))
      const row = await store.campaigns.update(id, (now) =>
        now && now.status !== 'hunting'
          ? { ...now, ...next, updated_at: new Date().toISOString() }
          : undefined,
      )
      if (!row) throw conflict('The campaign hunts. Pause it first.', { param: 'id' })
      return detailOf(store, json, row)
    },
  })

  async function rowOf(
    { target_url, target, seed, name, purpose, ...rest }: z.infer<typeof campaignInput>,
    { userId, tenant }: Principal,
  ): Promise<CampaignRow> {
    const { model, project, system_prompt: system } = target
    const now = new Date().toISOString()
    const owner = {
      ...(userId !== undefined && { user_id: userId }),
      ...(tenant !== undefined && { tenant }),
    }
    return {
      ...noAttacks,
      ...rest,
      ...owner,
      id: newId('fc_'),
      name,
      purpose,
      ...(target_url !== undefined && { target_url }),
      ...(model !== undefined && { model }),
      ...(project !== undefined && { project }),
      ...(system !== undefined && { system: await json.write(owner, system) }),
      seed: seed ?? newId(''),
      status: 'idle',
      created_at: now,
      updated_at: now,
    }
  }
}

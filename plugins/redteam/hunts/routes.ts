import { answer, answers, type Context, conflict, notFound, type Principal } from '#kernel'
import { addEndRoutes, storePrincipal } from '#kit'
import { campaignsPath, demandCampaigns, findCampaign } from '../campaigns/access.ts'
import { campaignDetail, detailOf } from '../campaigns/detail.ts'
import { huntInput } from '../campaigns/input.ts'
import { byId } from '../campaigns/routes.ts'
import type { CampaignRow } from '../campaigns/rows.ts'
import type { Settings } from '../settings.ts'
import { keyToSend } from '../target/key.ts'
import type { Hunting } from './hunting.ts'
import { huntResult, resultOf } from './result.ts'
import type { Waits } from './waits.ts'

/** To hunt, pause, resume and cancel. A client that leaves does not end a hunt. */
export function addHuntRoutes(context: Context<Settings>, hunting: Hunting, waits: Waits): void {
  const { route } = context
  const { store, json } = hunting

  route({
    method: 'post',
    path: `${campaignsPath}/{id}/hunt`,
    access: 'any',
    summary:
      'Attack over generations, each from what did best before; 200 with what came of it, or 202 while it goes on',
    params: byId,
    body: huntInput,
    returns: answers({ 200: huntResult, 202: huntResult }),
    throws: [403, 404, 409],
    async handle({ params: { id }, body, principal, ip, headers, signal }) {
      const { api_key, generations, population, model: attacker, judge_model: judge, wait_ms } = body
      const campaign = await findCampaign(store, id, principal)
      const key = keyToSend(api_key, campaign.target_url, headers)
      prepare(campaign, principal!, ip, key)
      const begun = await hunting.start(id, key, (row) =>
        row.status === 'hunting' || row.status === 'paused'
          ? undefined
          : {
              from: row.generation + 1,
              generations,
              population,
              ...(attacker !== undefined && { attacker }),
              ...(judge !== undefined && { judge }),
              needs_key: key !== undefined,
              turn: (row.hunt?.turn ?? 0) + 1,
              principal: storePrincipal(principal!),
              ip,
            },
      )
      if (!begun)
        throw conflict('The campaign hunts already, or is paused: resume or cancel it.', { param: 'id' })
      return ended(id, wait_ms, signal)
    },
  })

  route({
    method: 'post',
    path: `${campaignsPath}/{id}/pause`,
    access: 'any',
    summary: 'Have a hunt wait; the connections of its attacks are closed',
    params: byId,
    returns: campaignDetail,
    throws: [403, 404, 409],
    async handle({ params: { id }, principal }) {
      await findCampaign(store, id, principal)
      if (!(await hunting.stop(id, 'paused'))) throw conflict('The campaign does not hunt.', { param: 'id' })
      return detailOf(store, json, await findCampaign(store, id, principal))
    },
  })

  route({
    method: 'post',
    path: `${campaignsPath}/{id}/resume`,
    access: 'any',
    summary: 'Have a paused hunt go on, in your own name; 200 with what came of it, or 202 while it goes on',
    params: byId,
    body: huntInput.pick({ api_key: true, wait_ms: true }).prefault({}),
    returns: answers({ 200: huntResult, 202: huntResult }),
    throws: [403, 404, 409],
    async handle({ params: { id }, body: { api_key, wait_ms }, principal, ip, headers, signal }) {
      const campaign = await findCampaign(store, id, principal)
      const key = keyToSend(api_key, campaign.target_url, headers)
      prepare(campaign, principal!, ip, key)
      const resumed = await hunting.start(id, key, ({ status, hunt }) =>
        status === 'paused' && hunt
          ? { ...hunt, turn: hunt.turn + 1, principal: storePrincipal(principal!), ip }
          : undefined,
      )
      if (!resumed) throw conflict('The campaign is not paused.', { param: 'id' })
      return ended(id, wait_ms, signal)
    },
  })

  addEndRoutes(context, {
    path: `${campaignsPath}/{id}`,
    params: byId,
    verb: 'cancel',
    summaries: {
      end: 'End a hunt; what it has found stays',
      delete: 'Delete a campaign with its attacks and vulnerabilities; traces stay',
    },
    goesOn: 'The campaign hunts',
    returns: campaignDetail,
    find: ({ id }, principal) => findCampaign(store, id, principal),
    isOver: ({ status }) => status !== 'hunting',
    async end(row) {
      if (!(await endHunt(row))) throw conflict('The campaign does not hunt.', { param: 'id' })
    },
    async delete(row) {
      await hunting.stop(row.id, 'paused')
      await hunting.delete(row)
    },
    show: (row) => detailOf(store, json, row),
  })

  const endHunt = ({ id, status }: CampaignRow) =>
    status === 'paused'
      ? store.campaigns.update(id, (row) =>
          row?.status === 'paused'
            ? { ...row, status: 'completed', updated_at: new Date().toISOString() }
            : undefined,
        )
      : hunting.stop(id, 'completed')

  /** Throws where the caller may not hunt, or the key fits no target. */
  function prepare(campaign: CampaignRow, as: Principal, ip: string, key: string | undefined): void {
    demandCampaigns(context, as)
    hunting.targetOf(campaign, as, ip, key)
  }

  async function ended(id: string, ms: number, signal: AbortSignal) {
    await waits.until(id, ms, signal)
    const row = await store.campaigns.get(id)
    if (!row) throw notFound(`The campaign ${id} was deleted while it hunted.`, { param: 'id' })
    const result = await resultOf(hunting, row)
    return row.status === 'hunting' ? answer(202, result) : answer(200, result)
  }
}

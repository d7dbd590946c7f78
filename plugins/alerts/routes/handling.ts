import { z } from 'zod'
import { badRequest, type Context, conflict, type Principal } from '#kernel'
import type { Rules } from '../rules.ts'
import { ruleItem, ruleItemOf, type Standings } from '../view.ts'
import { params, path } from './rules.ts'

const mostSilence = 365 * 86_400

/** Who acts, as the history shows it. */
const byOf = (principal: Principal | undefined): string => principal?.userId ?? principal?.keyId ?? ''

/** What people do about alerts: they take note, or want to hear nothing for a while. */
export function addHandlingRoutes(
  { route }: Pick<Context<unknown>, 'route'>,
  rules: Rules,
  standings: Standings,
): void {
  const { firings, history, silences } = standings

  route({
    method: 'post',
    path: `${path}/{id}/acknowledge`,
    access: 'admin',
    summary: 'Say that somebody looks after what a rule fires',
    params,
    body: z.strictObject({
      note: z.string().max(1000).optional(),
      group: z.string().max(500).optional().meta({ description: 'One group; all that fire without it.' }),
    }),
    returns: z.object({
      alert_id: z.string(),
      acknowledged: z.array(z.string()).meta({ description: 'Ids in the history.' }),
    }),
    throws: [409],
    async handle({ params: { id }, body: { note = null, group }, principal }) {
      await rules.find(id)
      const firing = firings.firing(id).filter((one) => group === undefined || one.group === group)
      if (firing.length === 0) throw conflict('This rule fires nothing at the moment.', { param: 'id' })
      const acknowledged = { at: new Date().toISOString(), by: byOf(principal), note }
      const ids = firing.map(({ history_id: entry }) => entry)
      for (const entry of ids) await history.rows.update(entry, (row) => row && { ...row, acknowledged })
      return { alert_id: id, acknowledged: ids }
    },
  })

  route({
    method: 'post',
    path: `${path}/{id}/silence`,
    access: 'admin',
    summary:
      'Tell nobody of what a rule fires, until a time or for some seconds; what still fires then is told',
    params,
    body: z.strictObject({
      until: z.iso.datetime({ offset: true }).optional(),
      seconds: z.int().min(1).max(mostSilence).optional(),
    }),
    returns: ruleItem,
    async handle({ params: { id }, body, principal }) {
      const row = await rules.find(id)
      await silences.set(id, endOf(body), byOf(principal))
      return ruleItemOf(row, standings)
    },
  })

  route({
    method: 'delete',
    path: `${path}/{id}/silence`,
    access: 'admin',
    summary: 'End the silence of a rule',
    params,
    returns: ruleItem,
    async handle({ params: { id } }) {
      const row = await rules.find(id)
      await silences.end(id)
      return ruleItemOf(row, standings)
    },
  })
}

/** In milliseconds since the epoch. */
function endOf({ until, seconds }: { until?: string | undefined; seconds?: number | undefined }): number {
  const now = Date.now()
  if ((until === undefined) === (seconds === undefined))
    throw badRequest('body until: give this or seconds.', { param: 'until' })
  const end = until === undefined ? now + seconds! * 1000 : Date.parse(until)
  if (end <= now) throw badRequest('body until: is over already.', { param: 'until' })
  if (end > now + mostSilence * 1000)
    throw badRequest('body until: a silence lasts a year at the most.', { param: 'until' })
  return end
}

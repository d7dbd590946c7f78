import { z } from 'zod'
import { type Context, findingTypes, notFound, severities } from '#kernel'
import { forbidOthers, listed, listOf, listQuery, scopeOf, storedPage, timeFilter } from '#kit'
import { actionsTaken, safetyEvent } from '../event.ts'
import type { SafetyLog } from '../safety-log.ts'

const text = z.string().min(1).max(256).optional()

const query = listQuery.extend({
  type: z.enum(findingTypes).optional(),
  severity: z.enum(severities).optional(),
  action: z.enum(actionsTaken).optional().meta({ description: 'What became of it.' }),
  module: text,
  rule_id: text,
  user_id: text,
  key_id: text,
  project: text,
  model: text.meta({ description: 'The model that the call was last sent on for.' }),
  source: text,
  trace_id: text,
  from: timeFilter.optional(),
  to: timeFilter.optional().meta({ description: 'Events before this; ISO 8601.' }),
})

/** The safety log: users see the events of their own calls, admins all. */
export function logRoutes({ route }: Pick<Context<unknown>, 'route'>, log: SafetyLog): void {
  route({
    method: 'get',
    path: '/api/observe/safety',
    access: 'any',
    summary: 'What guards found in calls, newest first',
    query,
    returns: listOf('events', safetyEvent),
    throws: [403],
    async handle({ query: { limit, offset, cursor, type, action, ...given }, principal }) {
      const page = { limit, offset, cursor }
      const user_id = forbidOthers(principal, given.user_id)
      await log.catchUp()
      const filter = { ...given, user_id, event_type: type, action_taken: action }
      return listed('events', await storedPage(page, (window) => log.list(filter, window)), page)
    },
  })

  route({
    method: 'get',
    path: '/api/observe/safety/{id}',
    access: 'any',
    summary: 'An event of the safety log',
    params: z.strictObject({ id: z.string().max(100) }),
    returns: safetyEvent,
    throws: [403],
    async handle({ params: { id }, principal }) {
      const own = scopeOf(principal)
      await log.catchUp()
      const found = await log.get(id)
      if (!found || (own !== undefined && found.user_id !== own))
        throw notFound(`There is no safety event ${id}.`, { param: 'id' })
      return found
    },
  })
}

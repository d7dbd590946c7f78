import { z } from 'zod'
import { type Context, findingActions } from '#kernel'
import { listed, listOf, listQuery, storedPage } from '#kit'
import { violation } from '../shapes.ts'
import type { Violations } from '../violations.ts'

const stats = z.object({
  total_checks: z.int().meta({ description: 'Requests and answers that rules looked at.' }),
  blocked: z.int(),
  redacted: z.int(),
  flagged: z.int().meta({ description: 'Matches of rules that warn or log.' }),
  warned: z.int(),
  logged: z.int(),
  shadowed: z.int().meta({ description: 'Matches of rules in shadow, whatever their action.' }),
  rule_hits: z.array(
    z.object({
      rule_id: z.string(),
      name: z.string().nullable().meta({ description: 'null for a deleted rule.' }),
      hits: z.int(),
    }),
  ),
  by_type: z.record(z.string(), z.int()),
  since: z.string(),
})

/** What rules found in calls, for admins. */
export function addFigureRoutes({ route }: Pick<Context<unknown>, 'route'>, violations: Violations): void {
  route({
    method: 'get',
    path: '/api/guardrails/stats',
    access: 'admin',
    summary: 'Matches of guardrail rules, by action, rule and type',
    returns: stats,
    handle: () => violations.stats(),
  })

  route({
    method: 'get',
    path: '/api/guardrails/events',
    access: 'admin',
    summary: 'Matches of guardrail rules in calls, newest first',
    query: listQuery.extend({
      rule_id: z.string().optional(),
      project: z.string().optional(),
      user_id: z.string().optional(),
      action: z.enum(findingActions).optional(),
    }),
    returns: listOf('events', violation),
    async handle({ query }) {
      const { limit: _, offset, cursor, ...where } = query
      const page = await storedPage(query, (window) => violations.log.list({ where, ...window }))
      return listed('events', page, query)
    },
  })
}

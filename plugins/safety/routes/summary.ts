import { z } from 'zod'
import { type Context, callSources, Figures, findingTypes, severities } from '#kernel'
import { addNumbers, scopeOf } from '#kit'
import type { SafetyLog } from '../safety-log.ts'
import { formula, scoreOf } from '../score.ts'
import { dateOf, dayOf, type Sums } from '../sums.ts'

const mostRules = 10
const count = z.int()

const actions = { total: count, blocked: count, redacted: count, warned: count, logged: count, shadow: count }

const summary = z.object({
  safety_score: z.number().min(0).max(100).meta({ description: formula }),
  days: count.meta({ description: 'UTC days that all but `today` is about, with this one as the last.' }),
  calls: count.meta({
    description: 'Calls of these days with a trace, which all passed the guards that were on.',
  }),
  ...actions,
  today: z.object(actions).meta({ description: 'Since midnight UTC.' }),
  by_severity: z.object(Object.fromEntries(severities.map((severity) => [severity, count]))),
  by_type: z.array(z.object({ type: z.enum(findingTypes), count })),
  top_rules: z.array(
    z.object({ module: z.string(), rule_id: z.string().nullable(), category: z.string(), count }),
  ),
  trend: z
    .array(z.object({ bucket: z.string().meta({ format: 'date' }), count, ...actions }))
    .meta({ description: 'A line for each of the days, the oldest first.' }),
})

/** The safety log in figures, from sums that are written with the events. */
export function summaryRoute({ route, use }: Pick<Context<unknown>, 'route' | 'use'>, log: SafetyLog): void {
  route({
    method: 'get',
    path: '/api/observe/safety/summary',
    access: 'any',
    summary: 'Score and sums of what guards found in calls',
    query: z.strictObject({
      days: z.coerce.number().int().min(1).max(365).default(7).meta({ description: 'How many UTC days.' }),
      source: z
        .enum(['proxy', ...callSources])
        .default('proxy')
        .meta({ description: 'What made the calls: clients (`proxy`), or a feature of the gateway.' }),
    }),
    returns: summary,
    throws: [403],
    async handle({ query: { days, source }, principal }) {
      const own = scopeOf(principal)
      await log.catchUp()
      const today = dayOf(Date.now())
      const first = today - days + 1
      const sums = log.sums(own, source)
      const [byDay, byRule, calls] = await Promise.all([
        sums.byDay(first, today),
        sums.byRule(first, today),
        use(Figures).byDay(first, today, own, source),
      ])
      const all = [...byDay.values()].reduce(addNumbers, {})
      const requests = [...calls.values()].reduce((sum, line) => sum + line.requests, 0)
      return {
        safety_score: scoreOf(all, requests),
        days,
        calls: requests,
        ...actionsOf(all),
        today: actionsOf(byDay.get(today)),
        by_severity: Object.fromEntries(severities.map((name) => [name, all[`severity ${name}`] ?? 0])),
        by_type: findingTypes
          .map((type) => ({ type, count: all[`type ${type}`] ?? 0 }))
          .filter(({ count }) => count > 0)
          .sort((a, b) => b.count - a.count),
        top_rules: byRule.slice(0, mostRules).map(({ ruleId, ...rule }) => ({ ...rule, rule_id: ruleId })),
        trend: Array.from({ length: days }, (_, n) => {
          const sum = actionsOf(byDay.get(first + n))
          return { bucket: dateOf(first + n), count: sum.total, ...sum }
        }),
      }
    },
  })
}

function actionsOf(sums: Sums = {}) {
  const of = (action: string): number => sums[`action ${action}`] ?? 0
  return {
    total: sums.events ?? 0,
    blocked: of('blocked'),
    redacted: of('redacted'),
    warned: of('warned'),
    logged: of('logged'),
    shadow: of('shadow'),
  }
}

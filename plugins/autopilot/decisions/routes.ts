import { z } from 'zod'
import type { Context } from '#kernel'
import { listed, listOf, listQuery, scopeOf, shown, storedPage } from '#kit'
import type { Cap } from '../cap.ts'
import type { Savings } from '../savings.ts'
import type { Decisions } from './decisions.ts'
import { decisionItem, decisionItemOf } from './row.ts'

const stats = z.object({
  total_decisions: z.int(),
  today_decisions: z.int().meta({ description: 'Of the day in UTC.' }),
  total_savings: z.number().meta({
    description:
      'USD: for each call the price of the reference model for the same tokens, less what it cost. An estimate, as another model would have used other tokens.',
  }),
  today_savings: z.number(),
  route_distribution: z.array(z.object({ model: z.string(), count: z.int(), pct: z.number() })),
  calibrations_run: z.int(),
  quality_regret_estimate: z.number().meta({
    description:
      'The share of all decisions whose answer is expected to be worse than the reference model’s, by the scores of the models that answered.',
  }),
})

const cap = z.object({
  used_today: z.int(),
  limit: z.int().nullable().meta({ description: 'Null where there is none.' }),
  remaining: z.int().nullable(),
  savings_today: z
    .number()
    .meta({ description: 'USD that your calls saved, or with an admin key all calls.' }),
  capped: z.boolean().meta({ description: 'Whether the reference model answers until tomorrow (UTC).' }),
})

interface Parts {
  readonly decisions: Decisions
  readonly cap: Cap
  readonly savings: Savings
  readonly calibrationsRun: () => Promise<number>
}

/** To see where calls went, what that saved, and how many a caller has left. */
export function addDecisionRoutes({ route }: Pick<Context<unknown>, 'route'>, parts: Parts): void {
  const { decisions, cap: limit, savings, calibrationsRun } = parts
  route({
    method: 'get',
    path: '/api/autopilot/decisions',
    access: 'any',
    summary: 'Where your calls were routed, or with an admin key all calls, newest first',
    query: listQuery.extend({ trace_id: z.string().max(200).optional() }),
    returns: listOf('decisions', decisionItem),
    throws: [403],
    async handle({ query: { trace_id, ...window }, principal }) {
      const where = { trace_id, user_id: scopeOf(principal) }
      const page = await storedPage(window, (options) => decisions.log.list({ where, ...options }))
      return listed('decisions', shown(page, decisionItemOf), window)
    },
  })

  for (const path of ['/api/autopilot/stats', '/api/autoroute/stats'])
    route({
      method: 'get',
      path,
      access: 'admin',
      summary: 'What autopilot saved, and which models answered',
      returns: stats,
      async handle() {
        await savings.check()
        const [all, today, models] = await Promise.all([
          decisions.total(),
          decisions.today(),
          decisions.byModel(),
        ])
        const pct = (count: number) => Math.round((1000 * count) / all.decisions) / 10
        return {
          total_decisions: all.decisions,
          today_decisions: today.decisions,
          total_savings: all.savedUsd,
          today_savings: today.savedUsd,
          route_distribution: models.map(({ model, count }) => ({ model, count, pct: pct(count) })),
          calibrations_run: await calibrationsRun(),
          quality_regret_estimate: all.decisions === 0 ? 0 : all.regret / all.decisions,
        }
      },
    })

  for (const path of ['/api/autopilot/cap', '/api/autoroute/cap'])
    route({
      method: 'get',
      path,
      access: 'any',
      summary: 'How many calls autopilot may still route for you today, where plans are enforced',
      returns: cap,
      async handle({ principal }) {
        const { used, limit: most } = await limit.standing(principal!)
        const remaining = most === undefined ? null : Math.max(0, most - used)
        return {
          used_today: most === undefined ? await usedToday(principal!.userId) : used,
          limit: most ?? null,
          remaining,
          savings_today: await decisions.savedToday(scopeOf(principal)),
          capped: remaining === 0,
        }
      },
    })

  /** Where nothing is limited, the decisions of the day. */
  async function usedToday(userId: string | undefined): Promise<number> {
    if (userId === undefined) return (await decisions.today()).decisions
    const from = new Date().setUTCHours(0, 0, 0, 0)
    return (await decisions.log.list({ where: { user_id: userId }, from, limit: 0 })).total
  }
}

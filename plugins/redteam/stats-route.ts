import { z } from 'zod'
import type { Context } from '#kernel'
import { scopeOf } from '#kit'
import type { Tally } from './campaigns/rows.ts'
import { share, typeLine, typeLines } from './campaigns/shown.ts'
import type { CampaignStore } from './campaigns/store.ts'
import { asrOf } from './campaigns/sums.ts'
import { vulnerabilityStatuses } from './vulnerabilities/rows.ts'

const count = z.int().min(0)

const stats = z.object({
  campaigns: count,
  total_attacks: count,
  successful_attacks: count,
  asr: share,
  vulnerabilities: z.object({ open: count, mitigated: count, accepted: count, regressed: count }),
  by_type: z.array(typeLine),
  trend: z
    .array(z.object({ date: z.string(), attacks: count, successes: count, asr: share }))
    .meta({ description: 'By UTC day, oldest first; days without attacks are left out.' }),
})

/** Figures over campaigns: a user's own, or all of them. */
export function addStatsRoute({ route }: Pick<Context<unknown>, 'route'>, store: CampaignStore): void {
  route({
    method: 'get',
    path: '/api/redteam/stats',
    access: 'any',
    summary: 'Figures over your campaigns, or with an admin key over all',
    returns: stats,
    throws: [403],
    async handle({ principal }) {
      const user = scopeOf(principal)
      const [types, days] = [new Map<string, Tally>(), new Map<string, Tally>()]
      const sums = { campaigns: 0, total_attacks: 0, successes: 0, blocked: 0 }
      const range = user === undefined ? {} : { index: 'user', equals: user }
      for await (const [, { statuses, by_type, by_day }] of store.campaigns.scan(range)) {
        sums.campaigns += 1
        sums.successes += statuses.bypassed
        sums.blocked += statuses.blocked
        sums.total_attacks += statuses.bypassed + statuses.blocked + statuses.inconclusive + statuses.error
        for (const [name, tally] of Object.entries(by_type)) add(types, name, tally)
        for (const [day, tally] of Object.entries(by_day)) add(days, day, tally)
      }
      const counts = await Promise.all(
        vulnerabilityStatuses.map(async (status) => {
          const { total } = await store.listVulnerabilities({ user, status }, { limit: 0 })
          return [status, total] as const
        }),
      )
      return {
        campaigns: sums.campaigns,
        total_attacks: sums.total_attacks,
        successful_attacks: sums.successes,
        asr: asrOf(sums),
        vulnerabilities: Object.fromEntries(counts) as z.infer<typeof stats>['vulnerabilities'],
        by_type: typeLines(Object.fromEntries(types)),
        trend: Array.from(days)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([date, tally]) => ({
            date,
            attacks: tally.attempts,
            successes: tally.successes,
            asr: asrOf(tally),
          })),
      }
    },
  })
}

function add(all: Map<string, Tally>, name: string, { attempts, successes, blocked }: Tally): void {
  const before = all.get(name) ?? { attempts: 0, successes: 0, blocked: 0 }
  all.set(name, {
    attempts: before.attempts + attempts,
    successes: before.successes + successes,
    blocked: before.blocked + blocked,
  })
}

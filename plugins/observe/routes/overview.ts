import { z } from 'zod'
import type { Context } from '#kernel'
import { scopeOf, usdOf } from '#kit'
import { dayOf } from '../cells.ts'
import { Tally, unpricedIn } from '../tally.ts'
import type { Traces } from '../traces.ts'
import { dearestFirst, manual, missing, ofSource, sums, sumsOf, unpriced, unreadable } from './costs.ts'

/** Days that the top lists and the active users are about. */
const recentDays = 30
const topLength = 10

const count = z.int()

const figures = z.object({
  total_requests: count,
  total_cost_usd: z.number(),
  unpriced,
  error_rate: z.number(),
  avg_latency_ms: z.number(),
  p95_latency_ms: z.number(),
  cache_hit_rate: z.number(),
  tokens_in: count,
  tokens_out: count,
})

const overview = figures.extend({
  today: figures.meta({ description: 'The same since midnight UTC.' }),
  active_users: count.meta({ description: `Users with a call in the last ${recentDays} days.` }),
  top_models: z.array(z.object({ model: z.string(), ...sums })),
  top_providers: z.array(z.object({ provider: z.string(), ...sums })),
  manual,
  unreadable,
})

/** Everything at a glance. */
export function overviewRoute(context: Context<unknown>, traces: Traces): void {
  context.route({
    method: 'get',
    path: '/api/observe/overview',
    access: 'any',
    summary: 'Requests, latency and costs at a glance',
    query: z.strictObject({ source: ofSource }),
    returns: overview,
    async handle({ principal, query: { source } }) {
      const scope = scopeOf(principal)
      const cells = traces.cells(scope, source)
      const today = dayOf(Date.now())
      const recent = today - recentDays + 1
      const [days, models, providers, users, told] = await Promise.all([
        cells.byDay(0, today),
        cells.byValue('model', recent, today),
        cells.byValue('provider', recent, today),
        cells.byValue(scope === undefined ? 'user' : 'total', recent, today),
        cells.byValue('manual', 0, today),
      ])
      const all = new Tally()
      for (const tally of days.values()) all.merge(tally)
      return {
        ...figuresOf(all),
        today: figuresOf(days.get(today) ?? new Tally()),
        active_users: users.size,
        top_models: top(models).map(([model, sum]) => ({ model, ...sum })),
        top_providers: top(providers).map(([provider, sum]) => ({ provider, ...sum })),
        manual: sumsOf(told.get('')),
        ...missing(cells),
      }
    },
  })
}

const top = (sums: ReadonlyMap<string, Tally>) =>
  dearestFirst(sums)
    .filter(([name]) => name !== '')
    .slice(0, topLength)

function figuresOf(tally: Tally): z.infer<typeof figures> {
  return {
    total_requests: tally.get('requests'),
    total_cost_usd: usdOf(tally.get('cost_nano')),
    ...unpricedIn(tally),
    error_rate: tally.perRequest('errors'),
    avg_latency_ms: tally.perRequest('latency_us') / 1000,
    p95_latency_ms: tally.latencyQuantile(0.95),
    cache_hit_rate: tally.perRequest('cache_hits'),
    tokens_in: tally.get('tokens_in'),
    tokens_out: tally.get('tokens_out'),
  }
}

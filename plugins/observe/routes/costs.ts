import { z } from 'zod'
import { type Context, callSources } from '#kernel'
import { scopeOf, usdOf } from '#kit'
import { type Cells, dateOf, dayOf } from '../cells.ts'
import { type Tally, unpricedIn } from '../tally.ts'
import type { Traces } from '../traces.ts'

const count = z.int()

/** Says that costs are not all there. */
export const unpriced = count.optional().meta({
  description:
    'Number of calls that used tokens and whose cost is not known, or only in part; absent if there are none.',
})

/** The figures of one line. */
export const sums = { requests: count, cost_usd: z.number(), unpriced, tokens_in: count, tokens_out: count }

/** The figures of traces reported with `POST /api/observe/traces`. */
export const manual = z.object(sums).meta({
  description:
    'The part from imported traces. They count in the figures of the user who sent them, not in global figures.',
})

/** Says that figures are not all there. */
export const unreadable = count.optional().meta({
  description: 'Number of stored sums that could not be read and are left out; absent if there are none.',
})

/** The source of the calls that the figures count. */
export const ofSource = z.enum(callSources).optional().meta({
  description: "Calls that the gateway made for this; clients' own calls without it.",
})

const query = z.strictObject({
  source: ofSource,
  days: z.coerce
    .number()
    .int()
    .min(1)
    .max(3660)
    .default(30)
    .meta({ description: 'UTC days, today included.' }),
})

const costs = z.object({
  days: count,
  total_usd: z.number(),
  unpriced,
  by_provider: z.array(z.object({ provider: z.string().nullable(), ...sums })),
  by_model: z.array(z.object({ model: z.string().nullable(), ...sums })),
  by_project: z.array(z.object({ project: z.string(), ...sums })),
  saved_by_cache_usd: z.number(),
  saved_by_autopilot_usd: z.number(),
  manual,
  unreadable,
})

const daily = z.object({
  daily: z.array(z.object({ date: z.string(), ...sums, errors: count })),
  unreadable,
})

/** The costs of calls, by dimension and by day. */
export function costRoutes(context: Context<unknown>, traces: Traces): void {
  context.route({
    method: 'get',
    path: '/api/observe/costs',
    access: 'any',
    summary: 'Costs by provider, model and project',
    query,
    returns: costs,
    async handle({ query: { days, source }, principal }) {
      const cells = traces.cells(scopeOf(principal), source)
      const today = dayOf(Date.now())
      const from = today - days + 1
      const [totals, providers, models, projects, told] = await Promise.all(
        (['total', 'provider', 'model', 'project', 'manual'] as const).map((by) =>
          cells.byValue(by, from, today),
        ),
      )
      const total = totals!.get('')
      return {
        days,
        total_usd: usdOf(total?.get('cost_nano') ?? 0),
        ...unpricedIn(total),
        by_provider: dearestFirst(providers!).map(([name, sum]) => ({ provider: name || null, ...sum })),
        by_model: dearestFirst(models!).map(([name, sum]) => ({ model: name || null, ...sum })),
        by_project: dearestFirst(projects!).map(([project, sum]) => ({ project, ...sum })),
        saved_by_cache_usd: usdOf(total?.get('saved_nano') ?? 0),
        saved_by_autopilot_usd: usdOf(total?.get('saved_by_autopilot_nano') ?? 0),
        manual: sumsOf(told!.get('')),
        ...missing(cells),
      }
    },
  })

  context.route({
    method: 'get',
    path: '/api/observe/costs/daily',
    access: 'any',
    summary: 'Costs by UTC day, oldest first',
    query,
    returns: daily,
    async handle({ query: { days, source }, principal }) {
      const today = dayOf(Date.now())
      const cells = traces.cells(scopeOf(principal), source)
      const sums = await cells.byDay(today - days + 1, today)
      return {
        daily: Array.from({ length: days }, (_, i) => {
          const day = today - days + 1 + i
          const tally = sums.get(day)
          return { date: dateOf(day), ...sumsOf(tally), errors: tally?.get('errors') ?? 0 }
        }),
        ...missing(cells),
      }
    },
  })
}

/** The figures of one line, for the wire. */
export function sumsOf(tally: Tally | undefined) {
  return {
    requests: tally?.get('requests') ?? 0,
    cost_usd: usdOf(tally?.get('cost_nano') ?? 0),
    ...unpricedIn(tally),
    tokens_in: tally?.get('tokens_in') ?? 0,
    tokens_out: tally?.get('tokens_out') ?? 0,
  }
}

/** How many sums are missing, where some are. */
export const missing = ({ unreadable }: Cells) => (unreadable === 0 ? {} : { unreadable })

/** By cost, then by requests. */
export function dearestFirst(sums: ReadonlyMap<string, Tally>): [string, ReturnType<typeof sumsOf>][] {
  return [...sums]
    .map(([name, tally]): [string, ReturnType<typeof sumsOf>] => [name, sumsOf(tally)])
    .sort(([, a], [, b]) => b.cost_usd - a.cost_usd || b.requests - a.requests)
}

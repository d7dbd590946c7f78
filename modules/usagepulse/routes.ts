import { z } from 'zod'
import { badRequest, type FigureSums, Figures, forbidden, type OnceContext, type Principal } from '#kernel'
import { fileAnswer, listed, listOf, listQuery, pageOf, usdOf } from '#kit'
import { csvOf } from './csv.ts'
import { type Bounds, type Question, totalOf, type UsageLine, usageOf } from './usage.ts'

const path = '/api/modules/usagepulse'
const dayMs = 86_400_000

/** No call is older, so nothing before it is read; nor anything of days to come. */
const earliest = Date.UTC(2000, 0, 1)

/** Sums by the hour are kept for so long. */
const hoursKeptMs = 65 * dayMs

const time = z.union([z.iso.date(), z.iso.datetime({ offset: true })]).optional()

const about = {
  group_by: z.string().min(1).max(200).default('project').meta({
    description:
      'user, key, project, tenant, model, provider, tag (all tags, as name=value), tag:<name> (the values of one tag), or total',
  }),
  from: time.meta({
    description: 'A UTC day or a time; 30 days ago without it. Whole days, unless it is by the hour.',
  }),
  to: time.meta({ description: 'Exclusive, but a day is included; now without it.' }),
  every: z.enum(['total', 'day', 'hour']).default('total').meta({
    description:
      'A line for the whole time, or for each UTC day or hour; hours are for admins, and the last 65 days.',
  }),
}

const query = z.strictObject(about)

const figures = {
  requests: z.int(),
  errors: z.int(),
  tokens_in: z.int(),
  tokens_out: z.int(),
  tokens_cached: z.int().meta({ description: 'Of the tokens in.' }),
  tokens_reasoning: z.int().meta({ description: 'Of the tokens out.' }),
  cost_usd: z.number(),
  own_key_usd: z.number().meta({ description: "Of the cost: of calls with users' own provider keys." }),
  unpriced: z.int().meta({
    description: 'Calls that used tokens and whose cost is not known, or only in part.',
  }),
}

const line = z.object({
  from: z.string().optional().meta({ description: 'When its day or hour began.' }),
  value: z.string(),
  ...figures,
  share: z.number().meta({ description: 'Of the cost of all calls of the time.' }),
})

const report = listOf('usage', line).extend({
  sums: z.object(figures).meta({
    description:
      'All calls of the time. A call with several tags is in the line of each, so those may be more.',
  }),
})

/** Usage for admins, and for a user's key the user's own. */
export function addRoutes({ route, use }: Pick<OnceContext, 'route' | 'use'>, bounds: () => Bounds): void {
  route({
    method: 'get',
    path: `${path}/usage`,
    access: 'any',
    summary: 'Usage by user, key, project, tenant, model, provider or tag, the dearest first',
    query: listQuery.extend(about),
    returns: report,
    async handle({ query, principal }) {
      const asked = questionOf(query, principal)
      const [lines, sums] = await Promise.all([
        usageOf(use(Figures), asked, bounds()),
        totalOf(use(Figures), asked),
      ])
      const page = pageOf(lines, query, ({ at, value }) => `${at} ${value}`)
      const items = page.items.map((one) => shownLine(one, sums))
      return { ...listed('usage', { ...page, items }, query), sums: shownSums(sums) }
    },
  })

  route({
    method: 'get',
    path: `${path}/export.csv`,
    access: 'any',
    summary: 'The same as CSV, all lines',
    query,
    returns: fileAnswer,
    async handle({ query, principal }) {
      const asked = questionOf(query, principal)
      const lines = await usageOf(use(Figures), asked, bounds())
      const days = [asked.from, asked.to - 1].map((ms) => new Date(ms).toISOString().slice(0, 10))
      return {
        body: Buffer.from(csvOf(lines)),
        type: 'text/csv; charset=utf-8',
        name: `usage-${days.join('-to-')}.csv`,
      }
    },
  })
}

function questionOf(
  { group_by, from, to, every }: z.infer<typeof query>,
  principal: Principal | undefined,
): Question {
  const userId = principal?.type === 'admin' ? undefined : principal?.userId
  if (principal?.type !== 'admin' && userId === undefined)
    throw forbidden('This key does not belong to a user.')
  if (every === 'hour' && userId !== undefined)
    throw forbidden('Usage by the hour is for admins.', { param: 'every' })
  if (group_by === 'tenant' && userId !== undefined)
    throw forbidden('Usage by tenant is for admins.', { param: 'group_by' })
  const now = Date.now()
  const since = from === undefined ? now - 30 * dayMs : Date.parse(from)
  const until = to === undefined ? now + 1 : Date.parse(to) + (to.includes('T') ? 0 : dayMs)
  if (since >= until) throw badRequest('query from: must be before to.', { param: 'from' })
  const begin = Math.max(since, earliest)
  // Of a time without calls its first day is asked for.
  const end = Math.max(begin + 1, Math.min(until, now + dayMs))
  if (every === 'hour' && begin < now - hoursKeptMs)
    throw badRequest('query from: sums by the hour are kept for 65 days; ask for days.', { param: 'from' })
  return { groupBy: group_by, from: begin, to: end, every, userId }
}

function shownLine({ at, value, sums }: UsageLine, all: FigureSums): z.infer<typeof line> {
  return {
    ...(at !== undefined && { from: new Date(at).toISOString() }),
    value,
    ...shownSums(sums),
    share: all.costNano === 0 ? 0 : sums.costNano / all.costNano,
  }
}

const shownSums = (sums: FigureSums) => ({
  requests: sums.requests,
  errors: sums.errors,
  tokens_in: sums.tokensIn,
  tokens_out: sums.tokensOut,
  tokens_cached: sums.tokensCached,
  tokens_reasoning: sums.tokensReasoning,
  cost_usd: usdOf(sums.costNano),
  own_key_usd: usdOf(sums.ownKeyNano),
  unpriced: sums.unpriced ?? 0,
})

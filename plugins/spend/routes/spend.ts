import { z } from 'zod'
import { type Context, type FigureDimension, type FigureSums, Figures } from '#kernel'
import { scopeOf, usdOf } from '#kit'
import { dailyOf, daysQuery, lineOf, today } from './days.ts'
import { spendHistory, spendSummary } from './shapes.ts'

const dayMs = 86_400_000

/** Whole days that the forecast goes by. */
const forecastDays = 7

const dimensions = ['user', 'project', 'model', 'provider', 'tag', 'tenant'] as const

interface Amounts {
  readonly today: number
  readonly month: number
}

/** What the whole gateway spends, and for a user's key what the user spends: all calls, whatever made them, by UTC days. */
export function spendRoutes({ route, use }: Context<unknown>): void {
  route({
    method: 'get',
    path: '/api/spend',
    access: 'any',
    summary: 'Spending of today and of this month (UTC), by user, project, model, provider, tag and tenant',
    returns: spendSummary,
    async handle({ principal }) {
      const user = scopeOf(principal)
      const figures = use(Figures)
      const now = new Date()
      const firstDay = Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) / dayMs
      const [days, ...lists] = await Promise.all([
        figures.byDay(0, today(), user),
        ...dimensions.map((dimension) => amountsBy(figures, dimension, firstDay, user)),
      ])
      const [users, projects, models, providers, tags, tenants] = lists
      const whole: Amounts = { today: costOf(days, today()), month: costOf(days, firstDay) }
      return {
        ...usd(whole),
        total: usdOf(costOf(days, 0)),
        ...unpricedIn(days, firstDay),
        by_user: user === undefined ? listOf('user_id', users!) : [{ user_id: user, ...usd(whole) }],
        by_project: recordOf(projects!),
        by_model: listOf('model', models!),
        by_provider: listOf('provider', providers!),
        by_tag: recordOf(tags!),
        ...(tenants!.length > 0 && { by_tenant: listOf('tenant', tenants!) }),
        unattributed: user === undefined ? usd(lessOf(whole, users!)) : nothing,
        forecast_month_usd: usdOf(forecastOf(days, firstDay, now)),
        currency: 'USD' as const,
        as_of: now.toISOString(),
      }
    },
  })

  route({
    method: 'get',
    path: '/api/spend/history',
    access: 'any',
    summary: 'Spending by UTC day, oldest first, and by value of a dimension',
    query: z.strictObject({
      days: daysQuery,
      by: z.enum(dimensions).exactOptional().meta({ description: 'Adds the sums by its values.' }),
    }),
    returns: spendHistory,
    async handle({ query: { days, by }, principal }) {
      const user = scopeOf(principal)
      const daily = await dailyOf(use(Figures), days, user)
      if (by === undefined) return { days, daily }
      const values = await use(Figures).byValue(by, today() - days + 1, today(), user)
      return {
        days,
        daily,
        by: Object.fromEntries(Array.from(values, ([value, sums]) => [value, lineOf(sums)])),
      }
    },
  })
}

const nothing = { today: 0, month: 0 }

type Line = readonly [value: string, Amounts]

/** By what this month cost, the dearest first. Calls that reached no provider have none, and no model. */
async function amountsBy(
  figures: Figures,
  dimension: FigureDimension,
  firstDay: number,
  user: string | undefined,
): Promise<Line[]> {
  const month = await figures.byValue(dimension, firstDay, today(), user)
  const now = await figures.byValue(dimension, today(), today(), user)
  return Array.from(
    month,
    ([value, { costNano }]): Line => [value, { month: costNano, today: now.get(value)?.costNano ?? 0 }],
  )
    .filter(([value]) => value !== '')
    .sort(([, a], [, b]) => b.month - a.month)
}

/** What all days from one on cost. */
const costOf = (
  days: ReadonlyMap<number, FigureSums>,
  from: number,
  to = Number.POSITIVE_INFINITY,
): number => {
  let nano = 0
  for (const [day, { costNano }] of days) if (day >= from && day < to) nano += costNano
  return nano
}

/** How many calls of these days cost more than is known, where some do. */
function unpricedIn(days: ReadonlyMap<number, FigureSums>, firstDay: number) {
  const since = (from: number): number =>
    Array.from(days).reduce((all, [day, { unpriced = 0 }]) => (day < from ? all : all + unpriced), 0)
  const total = since(0)
  return total === 0 ? {} : { unpriced: { today: since(today()), month: since(firstDay), total } }
}

const lessOf = (whole: Amounts, parts: readonly Line[]): Amounts => ({
  today: parts.reduce((left, [, amounts]) => left - amounts.today, whole.today),
  month: parts.reduce((left, [, amounts]) => left - amounts.month, whole.month),
})

/** The month so far, and the mean of the last whole days for what is left of it. A gateway that is younger goes by its days. */
function forecastOf(days: ReadonlyMap<number, FigureSums>, firstDay: number, now: Date): number {
  const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) / dayMs
  const oldest = Math.min(today(), ...days.keys())
  const whole = Math.min(forecastDays, today() - oldest)
  const soFar = costOf(days, firstDay)
  const passed = now.getTime() / dayMs - today()
  // On its first day, the gateway has nothing to go by but that day.
  const perDay =
    whole === 0
      ? costOf(days, today()) / Math.max(passed, 1 / 24)
      : costOf(days, today() - whole, today()) / whole
  const restOfToday = Math.max(0, perDay * (1 - passed))
  return Math.round(soFar + restOfToday + perDay * (nextMonth - today() - 1))
}

const usd = (amounts: Amounts) => ({ today: usdOf(amounts.today), month: usdOf(amounts.month) })

const recordOf = (lines: readonly Line[]) =>
  Object.fromEntries(lines.map(([value, amounts]) => [value, usd(amounts)]))

const listOf = <N extends string>(name: N, lines: readonly Line[]) =>
  lines.map(([value, amounts]) => ({ [name]: value, ...usd(amounts) }) as Record<N, string> & Amounts)

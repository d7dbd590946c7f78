import { z } from 'zod'
import {
  type Cap,
  type CapStanding,
  type Context,
  type FigureSums,
  Figures,
  forbidden,
  kernelServices,
  type Principal,
  type Spend,
} from '#kernel'
import { type Period, periodAt, scopeOf, usdOf } from '#kit'
import { type UserCap, type UserCaps, userCapChange } from '../user-caps.ts'
import { dailyOf, daysQuery } from './days.ts'
import { userCap, userHistory, userSpend } from './shapes.ts'

interface Parts {
  readonly caps: UserCaps
  readonly spend: Spend
}

/** A period, and what the roll-up has of it. */
interface Spent extends Period {
  readonly sums: FigureSums
}

/** The configuration of `costcap` that caps of users are enforced by. */
const enforcer = 'costcap'

const params = z.strictObject({ id: z.string().min(1).max(100) })

/** What one user spends, and may spend. Users see their own; admins see all, and set the caps. */
export function userRoutes(context: Context<unknown>, { caps, spend }: Parts): void {
  const { route, use } = context

  /** The id of a user that the caller may see. */
  async function seen(id: string, principal: Principal | undefined): Promise<string> {
    if ((scopeOf(principal) ?? id) !== id)
      throw forbidden("A user's key sees the user's own spending only.", { param: 'id' })
    return (await use(kernelServices.accounts).user(id)).id
  }

  /** The caps of a user as they stand, and what the roll-up has of their periods. */
  async function capOf(id: string) {
    const row = await caps.get(id)
    const now = Date.now()
    const periodOf = async (kind: 'day' | 'month'): Promise<Spent> => {
      const period = periodAt(now, { ...row, kind })
      return { ...period, sums: await use(Figures).since('user', id, period.start) }
    }
    const [daily, monthly] = await Promise.all([periodOf('day'), periodOf('month')])
    const standings = await spend.standings(enforcer, caps.of(id))
    return {
      daily,
      monthly,
      view: viewOf(row, standings, { daily, monthly }),
      reservedNano: standings[0]?.reservedNano ?? 0,
    }
  }

  route({
    method: 'get',
    path: '/api/users/{id}/spend',
    access: 'any',
    summary: 'What a user has spent today and this month, in the time zone of its caps',
    params,
    returns: userSpend,
    throws: [404],
    async handle({ params, principal }) {
      const id = await seen(params.id, principal)
      const { view, reservedNano, daily, monthly } = await capOf(id)
      const [today, month] = [daily.sums, monthly.sums]
      return {
        user_id: id,
        today: usdOf(today.costNano),
        month: usdOf(month.costNano),
        tokens_in: month.tokensIn,
        tokens_out: month.tokensOut,
        requests_today: today.requests,
        requests_month: month.requests,
        ...(today.unpriced && { unpriced_today: today.unpriced }),
        ...(month.unpriced && { unpriced_month: month.unpriced }),
        currency: 'USD' as const,
        cap: view,
        reserved_usd: usdOf(reservedNano),
        as_of: new Date().toISOString(),
      }
    },
  })

  route({
    method: 'get',
    path: '/api/users/{id}/spend/history',
    access: 'any',
    summary: 'What a user has spent by UTC day, oldest first',
    params,
    query: z.strictObject({ days: daysQuery }),
    returns: userHistory,
    throws: [404],
    async handle({ params, query: { days }, principal }) {
      const id = await seen(params.id, principal)
      return { user_id: id, days, daily: await dailyOf(use(Figures), days, id) }
    },
  })

  route({
    method: 'get',
    path: '/api/users/{id}/spend/cap',
    access: 'any',
    summary: 'The caps of a user, and what is left of them',
    params,
    returns: userCap,
    throws: [404],
    handle: async ({ params, principal }) => (await capOf(await seen(params.id, principal))).view,
  })

  route({
    method: 'put',
    path: '/api/users/{id}/spend/cap',
    access: 'admin',
    summary: 'Set the caps of a user; absent fields stay, null removes a cap',
    params,
    body: userCapChange,
    returns: userCap,
    throws: [404],
    async handle({ params, body, principal }) {
      const id = await seen(params.id, principal)
      await caps.change(id, body)
      return (await capOf(id)).view
    },
  })
}

function viewOf(
  { daily_cap, monthly_cap, soft_cap, downgrade_model, ...rest }: UserCap,
  standings: readonly CapStanding[],
  spent: Readonly<Record<Cap['period'], Spent>>,
): z.infer<typeof userCap> {
  /** A count may be behind the roll-up for a while, as where nothing enforces the cap. */
  const leftOf = (period: Cap['period'], nano: number | null): number | null => {
    const found = standings.find(({ cap }) => cap.period === period)
    if (!found || nano === null) return null
    const { cap, mostNano, spentNano, reservedNano } = found
    const { costNano, ownKeyNano } = spent[period].sums
    const tracedNano = cap.ownKeys ? costNano : costNano - ownKeyNano
    return usdOf(Math.max(0, mostNano - Math.max(spentNano, tracedNano) - reservedNano))
  }
  return {
    daily_cap,
    monthly_cap,
    soft_cap,
    ...(downgrade_model !== null && { downgrade_model }),
    ...rest,
    configured: standings.length > 0,
    remaining_daily: leftOf('daily', daily_cap),
    remaining_monthly: leftOf('monthly', monthly_cap),
    resets_at: { daily: isoOf(spent.daily.end), monthly: isoOf(spent.monthly.end) },
  }
}

const isoOf = (ms: number): string => new Date(ms).toISOString()

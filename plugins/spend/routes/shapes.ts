import { z } from 'zod'
import { userCapFields } from '../user-caps.ts'

const usd = z.number()
const count = z.int()
const time = z.string().meta({ format: 'date-time' })

/** Says that a cost is not all of it. */
const unpriced = count.optional().meta({
  description:
    'Calls that used tokens and whose cost is not known, or only in part; absent if there are none.',
})

const periods = <T extends z.ZodType>(of: T) => z.object({ daily: of, monthly: of })

export const userCap = z.object({
  ...userCapFields,
  downgrade_model: z.string().optional(),
  configured: z.boolean().meta({ description: 'Whether there is a cap, a soft one included.' }),
  remaining_daily: usd.nullable().meta({ description: 'Without what is reserved; null without a cap.' }),
  remaining_monthly: usd.nullable(),
  resets_at: periods(time),
})

export const userSpend = z.object({
  user_id: z.string(),
  today: usd,
  month: usd,
  tokens_in: count.meta({ description: 'Of the month.' }),
  tokens_out: count.meta({ description: 'Of the month.' }),
  requests_today: count,
  requests_month: count,
  unpriced_today: unpriced,
  unpriced_month: unpriced,
  currency: z.literal('USD'),
  cap: userCap,
  reserved_usd: usd.meta({ description: 'Set apart for calls under way.' }),
  as_of: time,
})

const sums = { cost_usd: usd, unpriced, requests: count, tokens_in: count, tokens_out: count }

export const userHistory = z.object({
  user_id: z.string(),
  days: count,
  daily: z.array(z.object({ date: z.string(), ...sums })),
})

const amounts = { today: usd, month: usd }

export const spendSummary = z.object({
  ...amounts,
  total: usd.meta({ description: 'Of all time.' }),
  unpriced: z.object({ today: count, month: count, total: count }).optional().meta({
    description:
      'Calls that used tokens and whose cost is not known, or only in part, so that more was spent; absent if there are none.',
  }),
  by_user: z.array(z.object({ user_id: z.string(), ...amounts })),
  by_project: z.record(z.string(), z.object(amounts)),
  by_model: z.array(z.object({ model: z.string(), ...amounts })),
  by_provider: z.array(z.object({ provider: z.string(), ...amounts })),
  by_tag: z.record(z.string(), z.object(amounts)).meta({ description: 'By `name=value`.' }),
  by_tenant: z
    .array(z.object({ tenant: z.string(), ...amounts }))
    .optional()
    .meta({
      description: 'Absent where users belong to no tenant.',
    }),
  unattributed: z
    .object(amounts)
    .meta({ description: 'Of calls without a user, as those of admins; zero for a user.' }),
  forecast_month_usd: usd.meta({
    description: 'The month so far, and for the rest of it the mean of the last seven whole days.',
  }),
  currency: z.literal('USD'),
  as_of: time,
})

export const spendHistory = z.object({
  days: count,
  daily: z.array(z.object({ date: z.string(), ...sums })),
  by: z
    .record(z.string(), z.object(sums))
    .optional()
    .meta({ description: 'Sums over all these days by value, with `by` in the query.' }),
})

import { z } from 'zod'
import type { FigureSums, Figures } from '#kernel'
import { usdOf } from '#kit'

const dayMs = 86_400_000

/** The number of the UTC day. */
export const today = (): number => Math.floor(Date.now() / dayMs)

const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)

export const daysQuery = z.coerce
  .number()
  .int()
  .min(1)
  .max(3660)
  .default(30)
  .meta({ description: 'UTC days, today included.' })

/** The figures of one line, for the wire. */
export const lineOf = (sums: FigureSums | undefined) => ({
  cost_usd: usdOf(sums?.costNano ?? 0),
  ...(sums?.unpriced && { unpriced: sums.unpriced }),
  requests: sums?.requests ?? 0,
  tokens_in: sums?.tokensIn ?? 0,
  tokens_out: sums?.tokensOut ?? 0,
})

/** The last days, oldest first, of a user or of all. */
export async function dailyOf(figures: Figures, days: number, userId?: string) {
  const first = today() - days + 1
  const sums = await figures.byDay(first, today(), userId)
  return Array.from({ length: days }, (_, i) => ({ date: dateOf(first + i), ...lineOf(sums.get(first + i)) }))
}

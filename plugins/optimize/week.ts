import type { Figures } from '#kernel'
import { usdOf } from '#kit'

const dayMs = 86_400_000
export const days = 7

/** What clients' own calls of a week came to. */
export interface Week {
  readonly requests: number
  readonly errors: number
  readonly spendUsd: number
  /** Of all calls, those that the gateway makes included. */
  readonly models: number
  readonly providers: number
}

/** The last seven days in UTC, today included. */
export async function readWeek(figures: Figures): Promise<Week> {
  const today = Math.floor(Date.now() / dayMs)
  const from = today - days + 1
  const [byDay, models, providers] = await Promise.all([
    figures.byDay(from, today, undefined, 'proxy'),
    figures.byValue('model', from, today),
    figures.byValue('provider', from, today),
  ])
  const all = [...byDay.values()]
  const sum = (of: (sums: (typeof all)[number]) => number): number =>
    all.reduce((total, sums) => total + of(sums), 0)
  return {
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    spendUsd: usdOf(sum(({ costNano }) => costNano)),
    models: models.size,
    providers: providers.size,
  }
}

import { callSources, type UsageRecords, type UsedSums } from '#kernel'
import { dayOf } from './cells.ts'
import { Tally } from './tally.ts'
import type { Traces } from './traces.ts'

/**
 * Raises what users have used this month to what their traces say, as a killed process may have written a call's trace and
 * not its usage; of how many users it was less. Calls whose traces are gone, or were never kept, still count.
 */
export async function raiseUsage(
  traces: Pick<Traces, 'cells'>,
  records: UsageRecords,
  now: Date,
): Promise<number> {
  const firstDay = dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()))
  const byUser = new Map<string, Tally>()
  for (const source of [undefined, ...callSources.filter((one) => one !== 'redteam')]) {
    const found = await traces.cells(undefined, source).byValue('user', firstDay, dayOf(now.getTime()))
    for (const [userId, tally] of found) byUser.set(userId, (byUser.get(userId) ?? new Tally()).merge(tally))
  }
  const sums = new Map<string, UsedSums>()
  for (const [userId, tally] of byUser) {
    sums.set(userId, {
      tokensIn: tally.get('tokens_in'),
      tokensOut: tally.get('tokens_out'),
      costNano: tally.get('cost_nano'),
    })
  }
  return records.raise(now.toISOString().slice(0, 7), sums)
}

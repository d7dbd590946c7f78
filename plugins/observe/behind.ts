import type { UsageRecords, UsedSums } from '#kernel'
import { dayOf } from './cells.ts'
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
  const byUser = await traces.cells(undefined).byValue('user', firstDay, dayOf(now.getTime()))
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

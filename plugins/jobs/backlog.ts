import type { JobTable } from './table.ts'

/** What a lane with little to catch up on leaves between two jobs, in milliseconds. */
const gapMs = 100
const perTransaction = 500

/**
 * Spreads what is overdue in each lane of a kind over a time from now on, in milliseconds, so that a receiver does not get
 * all of a long outage in one moment. The first job of a lane stays due at once, and a short backlog takes no longer than a
 * tenth of a second for each job.
 */
export async function spread(table: JobTable, kind: string, overMs: number, now: number): Promise<void> {
  const lanes: string[] = []
  for await (const { lane, dueAt } of table.heads(kind)) if (dueAt! <= now) lanes.push(lane)
  for (const lane of lanes) {
    const gap = Math.min(gapMs, overMs / (await table.countOverdue(kind, lane, now)))
    let place = 0
    let later = new Map<string, number>()
    for await (const id of table.overdue(kind, lane, now)) {
      if (place > 0) later.set(id, now + Math.round(place * gap))
      place += 1
      if (later.size < perTransaction) continue
      await table.postpone(later, now)
      later = new Map()
    }
    if (later.size > 0) await table.postpone(later, now)
  }
}

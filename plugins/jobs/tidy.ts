import { currentKind, type JobsState, oldest } from './state.ts'
import type { JobTable } from './table.ts'

/**
 * Forgets jobs that ended too long ago, and the oldest of those that are too many, of the kinds that are defined, and does
 * what else is to be done for them from time to time.
 */
export async function tidy(state: JobsState, table: JobTable, now: number): Promise<void> {
  for (const kind of [...state.kinds.keys()]) {
    const current = currentKind(state, kind)
    if (!current) continue
    const { definition, upkeep } = current
    await upkeep?.()
    await prune(table, kind, { before: oldest(definition.keep, now), most: definition.keep.most })
  }
}

/** Forgets jobs of a kind that ended before a time, and the oldest of those that are more than may be kept. */
export async function prune(
  table: JobTable,
  kind: string,
  { before, most }: { readonly before: number; readonly most: number },
): Promise<void> {
  let tooMany = (await table.countEnded(kind)) - most
  for await (const [id, { endedAt = before }] of table.ended(kind)) {
    if (tooMany <= 0 && endedAt >= before) break
    await table.forget(id)
    tooMany -= 1
  }
}

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
    const before = oldest(definition, now)
    let tooMany = (await table.countEnded(kind)) - definition.keep.most
    for await (const [id, { endedAt = now }] of table.ended(kind)) {
      if (tooMany <= 0 && endedAt >= before) break
      await table.memos.forget(id)
      tooMany -= 1
    }
  }
}

import type { z } from 'zod'
import { statuses } from './row.ts'
import type { kindItem } from './shapes.ts'
import { currentKind, type JobsState } from './state.ts'
import type { JobTable } from './table.ts'

type KindItem = z.infer<typeof kindItem>

/** The kinds that are defined, or of which something is on disk. */
export async function kindNames(table: JobTable, state: JobsState | undefined): Promise<Set<string>> {
  const names = new Set(state?.kinds.keys())
  for await (const kind of table.kinds()) names.add(kind)
  for await (const [kind] of table.pauses.scan()) names.add(kind)
  return names
}

/** Them with their counts, by name. */
export async function kindItems(table: JobTable, state: JobsState | undefined): Promise<KindItem[]> {
  const names = [...(await kindNames(table, state))].sort()
  return Promise.all(
    names.map(async (kind) => {
      const counts = statuses.map(async (status) => [status, await table.count(kind, status)] as const)
      return {
        kind,
        paused: (await table.pauses.get(kind)) !== undefined,
        defined: state !== undefined && currentKind(state, kind) !== undefined,
        ...(Object.fromEntries(await Promise.all(counts)) as Pick<KindItem, (typeof statuses)[number]>),
      }
    }),
  )
}

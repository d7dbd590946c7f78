import type { Collection } from '../../storage/index.ts'

/**
 * Hands over every row of a collection, and from then on every change of any thread, undefined for a deletion. Resolves when
 * all that was stored has been handed over, with what ends it.
 */
export async function followRows<T>(
  rows: Collection<T>,
  take: (id: string, row: T | undefined) => void,
): Promise<() => void> {
  const changed = new Set<string>()
  const end = rows.watch(({ id, row }) => {
    changed.add(id)
    take(id, row)
  })
  for await (const [id, row] of rows.scan()) if (!changed.has(id)) take(id, row)
  return end
}

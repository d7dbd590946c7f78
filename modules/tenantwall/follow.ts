import type { Collection } from '#kernel'

/** Keeps a map like a collection, from now on; resolves with what ends that. */
export async function follow<T, V>(
  rows: Collection<T>,
  into: Map<string, V>,
  pick: (row: T) => V,
): Promise<() => void> {
  const changed = new Set<string>()
  const take = (id: string, row: T | undefined): void => {
    if (row === undefined) into.delete(id)
    else into.set(id, pick(row))
  }
  const end = rows.watch(({ id, row }) => {
    changed.add(id)
    take(id, row)
  })
  for await (const [id, row] of rows.scan()) if (!changed.has(id)) take(id, row)
  return end
}

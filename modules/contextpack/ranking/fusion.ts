/** The usual constant: how much the first places of a list count more than later ones. */
const damping = 60

/**
 * Merges lists of the same or of different things, each best first, by reciprocal ranks: what stands high in several lists comes
 * first. Their scores need not be comparable. Equals are in the order in which they are found.
 */
export function fused<T>(
  lists: readonly (readonly T[])[],
  idOf: (item: T) => string,
): { item: T; score: number }[] {
  const found = new Map<string, { item: T; score: number }>()
  for (const list of lists) {
    for (const [rank, item] of list.entries()) {
      const id = idOf(item)
      const one = found.get(id) ?? { item, score: 0 }
      one.score += 1 / (damping + rank + 1)
      found.set(id, one)
    }
  }
  return [...found.values()].sort((a, b) => b.score - a.score)
}

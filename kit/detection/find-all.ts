/** Part of a text, and what it is. */
export interface Finding {
  readonly start: number
  readonly end: number
}

/** The first finding that starts at `from` or later, not empty. */
export type Finder<T extends Finding = Finding> = (text: string, from: number) => T | undefined

/**
 * The findings of several finders from `from` on: the earliest, then the earliest after its end, and so on; of two that start
 * together, that of the earlier finder. Linear when the finders are.
 */
export function findAll<T extends Finding>(finders: readonly Finder<T>[], text: string, from = 0): T[] {
  const next = finders.map((find) => find(text, from))
  const found: T[] = []
  for (;;) {
    let first: T | undefined
    for (const candidate of next)
      if (candidate && (!first || candidate.start < first.start)) first = candidate
    if (!first) return found
    found.push(first)
    for (const [i, candidate] of next.entries()) {
      if (candidate && candidate.start < first.end) next[i] = finders[i]!(text, first.end)
    }
  }
}

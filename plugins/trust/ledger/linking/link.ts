import type { End } from '../entry.ts'
import { digested, type Facts, type Placed, placed } from '../facts.ts'
import { type Joined, joined } from '../segment.ts'

/** Entries in their places, and which of the facts could be none, by their order. */
export interface Linked {
  /** Undefined where none could. */
  readonly entries: Joined | undefined
  readonly dropped: readonly number[]
}

/** Makes the hashes of facts and puts them behind the end of a chain, in their order. */
export function link(all: readonly Facts[], end: End): Linked {
  const entries: Placed[] = []
  const dropped: number[] = []
  for (const [at, facts] of all.entries()) {
    try {
      entries.push(placed(digested(facts), entries.at(-1) ?? end))
    } catch {
      dropped.push(at)
    }
  }
  return { entries: entries.length > 0 ? joined(entries) : undefined, dropped }
}

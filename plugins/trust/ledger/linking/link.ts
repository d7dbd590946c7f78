import type { End } from '../end.ts'
import { type Placed, placed } from '../facts.ts'
import { factsIn, type Recorded } from '../recorded.ts'
import { type Joined, joined } from '../segment.ts'

/** Entries in their places, and which of the drafts could be none, by their order. */
export interface Linked {
  /** Undefined where none could. */
  readonly entries: Joined | undefined
  readonly dropped: readonly number[]
}

/** Makes entries of drafts and puts them behind the end of a chain, in their order. */
export function link(all: readonly Recorded[], end: End): Linked {
  const entries: Placed[] = []
  const dropped: number[] = []
  for (const [at, recorded] of all.entries()) {
    try {
      entries.push(placed(factsIn(recorded), entries.at(-1) ?? end))
    } catch {
      dropped.push(at)
    }
  }
  return { entries: entries.length > 0 ? joined(entries) : undefined, dropped }
}

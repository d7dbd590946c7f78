import type { End } from './entry.ts'
import { type Facts, type Placed, placed } from './facts.ts'
import { mostEntries, type Segment, segmentOf } from './segment.ts'

/** Facts, or what makes them. */
export type Draft = Facts | (() => Facts)

/** Drafts that wait for their places in the chain, and get them together. */
export class Batch {
  #drafts: Draft[]
  readonly #dropped: () => void
  #facts: readonly Facts[] | undefined

  /** `dropped` is called for each one that cannot be an entry. */
  constructor(first: Draft, dropped: () => void) {
    this.#drafts = [first]
    this.#dropped = dropped
  }

  /** False when it takes no more. */
  add(draft: Draft): boolean {
    if (this.#facts || this.#drafts.length === mostEntries) return false
    this.#drafts.push(draft)
    return true
  }

  /** The entries behind the end of a chain. It is made again when others were appended there first. */
  segment(end: End | undefined): Segment {
    this.#facts ??= this.#made()
    const entries: Placed[] = []
    for (const facts of this.#facts) entries.push(placed(facts, entries.at(-1) ?? end))
    return segmentOf(entries)
  }

  #made(): readonly Facts[] {
    const made: Facts[] = []
    for (const draft of this.#drafts) {
      try {
        made.push(typeof draft === 'function' ? draft() : draft)
      } catch {
        this.#dropped()
      }
    }
    this.#drafts = []
    return made
  }
}

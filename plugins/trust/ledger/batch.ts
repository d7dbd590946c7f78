import type { LedgerEntry } from '#kernel'
import { chained, type End, type Facts } from './entry.ts'
import { mostEntries, type Segment, segmentOf } from './segment.ts'

/** Facts that wait for their places in the chain, and get them together. */
export class Batch {
  readonly #facts: Facts[]
  readonly #dropped: () => void
  #isOpen = true

  /** `dropped` is called for each one that cannot be an entry. */
  constructor(first: Facts, dropped: () => void) {
    this.#facts = [first]
    this.#dropped = dropped
  }

  /** False when it takes no more. */
  add(facts: Facts): boolean {
    if (!this.#isOpen) return false
    this.#facts.push(facts)
    this.#isOpen = this.#facts.length < mostEntries
    return true
  }

  /** The entries behind the end of a chain. It is made again when others were appended there first. */
  segment(end: End | undefined): Segment {
    this.#isOpen = false
    const entries: LedgerEntry[] = []
    for (const facts of [...this.#facts]) {
      try {
        entries.push(chained(facts, entries.at(-1) ?? end))
      } catch {
        this.#facts.splice(this.#facts.indexOf(facts), 1)
        this.#dropped()
      }
    }
    return segmentOf(entries)
  }
}

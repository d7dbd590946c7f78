import type { End } from './entry.ts'
import { type Facts, type Placed, placed } from './facts.ts'
import { mostEntries, type Segment, segmentOf } from './segment.ts'

/** Facts that wait for their places in the chain, and get them together. */
export class Batch {
  readonly #facts: Facts[]
  #isOpen = true

  constructor(first: Facts) {
    this.#facts = [first]
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
    const entries: Placed[] = []
    for (const facts of this.#facts) entries.push(placed(facts, entries.at(-1) ?? end))
    return segmentOf(entries)
  }
}

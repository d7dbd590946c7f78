import type { Windows } from '#kernel'
import { ensure } from '#kit'

interface PatienceOptions {
  /** A fixed time in milliseconds; null for one that is learned. */
  readonly fixedMs: number | null
  /** The share of answers that begin in time. */
  readonly share: number
  /** Answers of a group that must be known first. */
  readonly least: number
}

/** How long a time that was computed holds: to compute one takes longer than all else that a call pays for. */
const holdsMs = 1000

/** How long to wait for an answer, by how long answers of the same group took lately. */
export class Patience {
  readonly #windows: () => Windows
  readonly #options: PatienceOptions
  readonly #known = new Map<string, { ms: number | undefined; until: number }>()

  constructor(windows: () => Windows, options: PatienceOptions) {
    this.#windows = windows
    this.#options = options
  }

  /** Milliseconds; undefined while too little is known. */
  of(group: string): number | undefined {
    const { fixedMs } = this.#options
    if (fixedMs !== null) return fixedMs
    const now = performance.now()
    const known = ensure(this.#known, group, () => ({ ms: undefined, until: 0 }), mostGroups)
    if (now >= known.until) {
      known.ms = this.#learned(group)
      known.until = known.ms === undefined ? now : now + holdsMs
    }
    return known.ms
  }

  /** Learns how long an answer took to begin, or how long it was waited for in vain. */
  learn(group: string, ms: number): void {
    if (this.#options.fixedMs === null) this.#windows().add(group, ms)
  }

  #learned(group: string): number | undefined {
    const windows = this.#windows()
    const { share, least } = this.#options
    return windows.read(group).count < least ? undefined : windows.quantile(group, share)
  }
}

/** Clients name models, so their number needs a bound. */
const mostGroups = 1000

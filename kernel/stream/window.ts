import type { Call } from '../call.ts'
import { type Detector, type Found, type Place, report, scanAll, standIn } from '../detect.ts'

/** Thrown by a window when a finding blocks; what was already let go is in `released`. */
export class Blocked extends Error {
  readonly span: Found
  readonly released: string

  constructor(span: Found, released: string) {
    super('blocked')
    this.span = span
    this.released = released
  }
}

/**
 * One text passing through detectors. Holds back only what text to come could still turn into a finding, never lets
 * anything go unscanned, and gives the same result for every way of cutting the text.
 */
export class Window {
  readonly #detectors: readonly Detector[]
  readonly #place: Place
  readonly #call: Call
  /** Characters of context before what is held, so that a finding can look back. */
  readonly #lookBack: number
  #text = ''
  /** Where in `#text` the part begins that has not left yet. */
  #start = 0

  constructor(detectors: readonly Detector[], place: Place, call: Call) {
    this.#detectors = detectors
    this.#place = place
    this.#call = call
    this.#lookBack = Math.max(...detectors.map(({ detection }) => detection.reach))
  }

  get holds(): boolean {
    return this.#start < this.#text.length
  }

  /** What may leave now that this text has come; with `last`, everything. Throws `Blocked`. */
  push(text: string, last = false): string {
    this.#text += text
    const limit = last ? this.#text.length : this.#settled()
    if (limit <= this.#start) return ''
    let released = ''
    let at = this.#start
    for (const span of scanAll(this.#detectors, this.#text, this.#place, this.#call, this.#start)) {
      if (span.start >= limit) break
      released += this.#text.slice(at, span.start)
      report(span, this.#place, this.#call)
      if (span.action === 'block') throw new Blocked(span, released)
      released += standIn(span, this.#text, this.#place)
      at = span.end
    }
    if (at < limit) {
      released += this.#text.slice(at, limit)
      at = limit
    }
    this.#start = at
    this.#forget()
    return released
  }

  /** Up to where no detector can change its mind. */
  #settled(): number {
    let limit = this.#text.length
    for (const { detection } of this.#detectors) {
      const held = Math.max(this.#text.length - detection.reach, 0)
      const open = detection.open?.(this.#text, this.#call) ?? held
      limit = Math.min(limit, Math.max(open, held))
    }
    return limit
  }

  #forget(): void {
    const cut = this.#start - this.#lookBack
    if (cut <= this.#lookBack) return
    this.#text = this.#text.slice(cut)
    this.#start -= cut
  }
}

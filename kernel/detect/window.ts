import type { TextLocation } from '../../kit/canonical/text-location.ts'
import { JsonText, outsideOfPairs, PlainText, type Written } from '../../kit/streams/written.ts'
import type { Detector, Found } from '../chain/detector.ts'

/** Handles a finding that blocks: throws, or gives a replacement. */
export type OnBlock = (found: Found) => string

const refuse: OnBlock = (found) => found.detector.refuse(found)

/** A detector at work on one text. */
interface Search {
  readonly detector: Detector
  /** From where it looks: past what has left and past its own last finding, taken or not. */
  from: number
  /** From where on it may still change its mind. */
  open: number
}

/**
 * One text passing through detectors. Holds back only what text to come could still turn into a finding, never lets
 * anything go unscanned, and gives the same result for every way of cutting the text.
 */
export class Window {
  readonly #searches: readonly Search[]
  readonly place: TextLocation
  readonly #onBlock: OnBlock
  readonly #written: Written
  /** Characters before what is held that a finding may look back at. */
  readonly #context: number
  /** Where in the text the part begins that has not left yet. */
  #start = 0
  /** Up to where the text was let go though it could have become part of a finding. */
  #overdue = 0
  /** Characters forgotten so far. */
  #gone = 0
  /** Up to where the text may leave, counted from the start of everything. */
  ready = 0
  /** Parts that were replaced, counted from the start of everything. */
  readonly replaced: { readonly start: number; readonly end: number }[] = []

  /** Without `onBlock`, a finding that blocks throws the refusal of its module. */
  constructor(detectors: readonly Detector[], place: TextLocation, onBlock: OnBlock = refuse) {
    this.#searches = detectors.map((detector) => ({ detector, from: 0, open: 0 }))
    this.place = place
    this.#onBlock = onBlock
    this.#written = place.kind === 'arguments' || place.isJson ? new JsonText() : new PlainText()
    this.#context = Math.max(...detectors.map(({ context }) => context), 0)
  }

  get holds(): boolean {
    return this.left < this.came
  }

  /** Characters that came. */
  get came(): number {
    return this.#gone + this.#written.text.length
  }

  /** Characters that left, as they were or replaced. */
  get left(): number {
    return this.#gone + this.#start
  }

  /** The longest finding that what is held may still become a part of. */
  get reach(): number {
    const open = this.#searches.filter((search) => search.open < this.#written.text.length)
    return Math.max(...open.map(({ detector }) => detector.detection.reach), 0)
  }

  /** Searches a text that is there at once, with the same result as in parts. */
  whole(text: string): string {
    this.#written.add(text)
    return this.end()
  }

  /** The rest of the text when no more comes. */
  end(): string {
    this.close()
    return this.take()
  }

  add(part: string): void {
    this.#written.add(part)
    const { text } = this.#written
    let limit = text.length
    for (const search of this.#searches) {
      const { detector, from } = search
      search.open = detector.settled(text, from < this.#overdue ? from : Math.max(from, this.#start))
      limit = Math.min(limit, search.open)
    }
    this.ready = Math.max(this.ready, this.#gone + this.#written.parting(limit))
  }

  /** No more comes. */
  close(): void {
    this.#written.close()
    this.ready = this.came
  }

  /** Lets go of what is held, before it is known what it becomes: of a finding that it begins, the rest is still found. */
  letGo(): void {
    this.#overdue = outsideOfPairs(this.#written.text, this.#written.text.length)
    this.ready = this.#gone + this.#overdue
  }

  /** The text that may leave, up to this character. */
  take(to = this.ready): string {
    const limit = Math.min(to, this.ready) - this.#gone
    if (limit <= this.#start) return ''
    let released = ''
    for (const found of this.#findings(limit)) {
      const start = this.#written.wholeFrom(found.start)
      released += this.#written.take(this.#start, start)
      released += this.#standIn(found, start)
      this.#start = found.end
    }
    if (this.#start < limit) {
      released += this.#written.take(this.#start, limit)
      this.#start = limit
    }
    this.#forget()
    return released
  }

  /** Findings that start before the limit, which nothing to come can change, unless they were let go. */
  #findings(limit: number): Found[] {
    const all: Found[] = []
    for (const search of this.#searches) {
      const { detector, from, open } = search
      let end = Math.min(limit, open)
      for (const span of from < limit ? detector.scan(this.#written.text, this.place, from) : []) {
        if (span.start >= limit) break
        const start = span.start < this.#overdue ? Math.max(span.start, this.#start) : span.start
        if (start < span.end) all.push({ ...span, start, detector })
        end = Math.max(end, span.end)
      }
      search.from = Math.max(from, end)
    }
    return merged(all, this.#start)
  }

  /** What leaves in the place of a finding, and of what is replaced with it as a whole from `start` on. */
  #standIn(found: Found, start: number): string {
    const { end, action, replacement = '', detector } = found
    detector.report(found, this.place, this.#gone)
    if (action === 'note' || action === 'log') return this.#written.take(start, end)
    const by = action === 'block' ? this.#onBlock(found) : replacement
    this.replaced.push({ start: this.#gone + start, end: this.#gone + end })
    return this.#written.replace(start, end, by)
  }

  #forget(): void {
    const count = Math.min(this.#start, ...this.#searches.map(({ from }) => from)) - this.#context
    if (count <= this.#context + slack) return
    this.#written.forget(count)
    this.#gone += count
    this.#start -= count
    this.#overdue -= count
    for (const search of this.#searches) {
      search.from -= count
      search.open -= count
    }
  }
}

/** Characters past the context that may pile up before they are cut off, so that not every chunk copies the text. */
const slack = 256

/** The findings of detectors: in order, none overlapping; the earlier start wins, then the earlier detector. */
export function merged(found: Found[], from: number): Found[] {
  found.sort((a, b) => a.start - b.start)
  let end = from
  return found.filter((span) => {
    if (span.start < end) return false
    end = span.end
    return true
  })
}

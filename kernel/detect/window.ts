import { JsonText, PlainText, type Written } from '../../kit/written.ts'
import type { Detector, Found } from '../chain/detector.ts'
import type { TextLocation } from './detect.ts'

/** Handles a finding that blocks: throws, or gives a replacement. */
export type OnBlock = (found: Found) => string

/**
 * One text passing through detectors. Holds back only what text to come could still turn into a finding, never lets
 * anything go unscanned, and gives the same result for every way of cutting the text.
 */
export class Window {
  readonly #detectors: readonly Detector[]
  readonly #place: TextLocation
  readonly #onBlock: OnBlock
  readonly #written: Written
  /** Characters before what is held that a finding may look back at. */
  readonly #context: number
  /** Where in the text the part begins that has not left yet. */
  #start = 0
  /** From where each detector looks: past what has left and past its own last finding, taken or not. */
  readonly #from: number[]
  /** Characters forgotten so far. */
  #gone = 0
  /** Parts that were replaced, counted from the start of everything. */
  readonly replaced: { readonly start: number; readonly end: number }[] = []

  constructor(detectors: readonly Detector[], place: TextLocation, onBlock: OnBlock) {
    this.#detectors = detectors
    this.#place = place
    this.#onBlock = onBlock
    this.#written = place.kind === 'arguments' ? new JsonText() : new PlainText()
    this.#context = Math.max(...detectors.map(({ context }) => context), 0)
    this.#from = detectors.map(() => 0)
  }

  get holds(): boolean {
    return this.#start < this.#written.text.length
  }

  /** Characters that came. */
  get came(): number {
    return this.#gone + this.#written.text.length
  }

  /** Characters that left, as they were or replaced. */
  get left(): number {
    return this.#gone + this.#start
  }

  /** Searches a text that is there at once, with the same result as in parts. */
  whole(text: string): string {
    this.#written.add(text)
    return this.end()
  }

  /** The text that may leave now that this part has come. */
  push(part: string): string {
    this.#written.add(part)
    return this.#release(unbroken(this.#written.text, this.#settled()))
  }

  /** The rest of the text when no more comes. */
  end(): string {
    this.#written.close()
    return this.#release(this.#written.text.length)
  }

  #release(limit: number): string {
    if (limit <= this.#start) return ''
    let released = ''
    for (const found of this.#findings(limit)) {
      released += this.#written.take(this.#start, found.start)
      released += this.#standIn(found)
      this.#start = found.end
    }
    if (this.#start < limit) {
      released += this.#written.take(this.#start, limit)
      this.#start = limit
    }
    this.#forget()
    return released
  }

  /** Findings that start before the limit, which nothing to come can change. */
  #findings(limit: number): Found[] {
    const all: Found[] = []
    for (const [i, detector] of this.#detectors.entries()) {
      const from = this.#from[i]!
      let end = limit
      for (const span of from < limit ? detector.scan(this.#written.text, this.#place, from) : []) {
        if (span.start >= limit) break
        all.push({ ...span, detector })
        end = Math.max(end, span.end)
      }
      this.#from[i] = Math.max(from, end)
    }
    return merged(all, this.#start)
  }

  #standIn(found: Found): string {
    const { start, end, action, replacement = '', detector } = found
    detector.report(found, this.#place, this.#gone)
    if (action === 'note' || action === 'log') return this.#written.take(start, end)
    const by = action === 'block' ? this.#onBlock(found) : replacement
    this.replaced.push({ start: this.#gone + start, end: this.#gone + end })
    return this.#written.replace(start, end, by)
  }

  /** Up to where no detector can change its mind. */
  #settled(): number {
    let limit = this.#written.text.length
    for (const [i, detector] of this.#detectors.entries()) {
      limit = Math.min(limit, detector.settled(this.#written.text, Math.max(this.#from[i]!, this.#start)))
    }
    return limit
  }

  #forget(): void {
    const count = this.#start - this.#context
    if (count <= this.#context + slack) return
    this.#written.forget(count)
    this.#gone += count
    this.#start -= count
    for (const i of this.#from.keys()) this.#from[i]! -= count
  }
}

/** Characters past the context that may pile up before they are cut off, so that not every chunk copies the text. */
const slack = 256

/** A limit that leaves no half of a character behind. */
function unbroken(text: string, limit: number): number {
  const last = text.charCodeAt(limit - 1)
  return last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit
}

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

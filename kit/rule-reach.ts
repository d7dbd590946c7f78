import type { Finder, Finding } from './find-all.ts'
import type { TextRule } from './text-rule.ts'

/** How far the matches of a rule go, taken in from left to right, each once: a text may have one at every character. */
export class Reach<R extends TextRule> {
  readonly rule: R
  #end = 0
  #next: number

  constructor(rule: R, from: number) {
    this.rule = rule
    this.#next = Math.max(0, from - rule.longest)
  }

  /** The end of the match that goes furthest, of those that begin before `at`, which never goes back. */
  before(text: string, at: number): number {
    if (this.#next < at - 1) this.#leap(text, at)
    while (this.#next < at) {
      const found = this.rule.find(text, this.#next)
      const isBefore = found !== undefined && found.start < at
      if (isBefore) this.#end = Math.max(this.#end, found.end)
      this.#next = isBefore ? found.start + 1 : (found?.start ?? text.length)
    }
    return this.#end
  }

  /** A match at the last place that is as long as one can be goes further than all that begin before it. */
  #leap(text: string, at: number): void {
    const last = this.rule.find(text, at - 1)
    if (last?.start !== at - 1 || last.end - last.start < this.rule.longest) return
    this.#end = last.end
    this.#next = at
  }
}

/**
 * A finder for one text that keeps its furthest match: until that one is reached, a search from further on has the same result.
 * Without it, the matches of one rule would each have the rest of the text searched for those of the others.
 */
export function remembering(find: Finder): Finder {
  let known: { from: number; readonly start: number; readonly found: Finding | undefined } | undefined
  return (text, from) => {
    if (known && known.from <= from && from <= known.start) return known.found
    const found = find(text, from)
    const start = found?.start ?? Number.POSITIVE_INFINITY
    if (!known || start > known.start) known = { from, start, found }
    else if (start === known.start) known.from = Math.min(known.from, from)
    return found
  }
}

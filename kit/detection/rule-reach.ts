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
    // Most often a match of the last places goes further than all that begin before them can.
    if (!nearest.some((places) => this.#settles(text, at - places, at))) this.#scan(text, this.#next, at)
    this.#next = Math.max(this.#next, at)
    return this.#end
  }

  /** Whether what begins from a place on makes all that begins before it, and was not looked at, of no account. */
  #settles(text: string, from: number, at: number): boolean {
    if (from <= this.#next) return false
    this.#scan(text, from, at)
    return this.#end >= from - 1 + this.rule.longest
  }

  #scan(text: string, from: number, at: number): void {
    for (let next = from; next < at; ) {
      const found = this.rule.find(text, next)
      if (!found || found.start >= at) return
      this.#end = Math.max(this.#end, found.end)
      next = found.start + 1
    }
  }
}

/** From how many places before it is looked first. */
const nearest = [1, 24]

/** Matches of the last places are kept, which are asked for again and again. */
const mostKept = 256

/**
 * A finder for one text that keeps its furthest match: until that one is reached, a search from further on has the same result. It
 * keeps the last ones, too. Without that, the matches of one rule would each have the rest of the text searched for those of the
 * others, and each place of a text full of matches would be searched several times.
 */
export function remembering(find: Finder): Finder {
  let known: { from: number; readonly start: number; readonly found: Finding | undefined } | undefined
  const last = new Map<number, Finding | undefined>()
  return (text, from) => {
    if (known && known.from <= from && from <= known.start) return known.found
    if (last.has(from)) return last.get(from)
    const found = find(text, from)
    const start = found?.start ?? Number.POSITIVE_INFINITY
    if (!known || start > known.start) known = { from, start, found }
    else if (start === known.start) known.from = Math.min(known.from, from)
    if (last.size === mostKept) last.clear()
    last.set(from, found)
    return found
  }
}

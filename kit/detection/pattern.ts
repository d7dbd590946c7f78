import { createRequire } from 'node:module'
import { readable } from '../readable.ts'
import type { Finder } from './find-all.ts'
import { stepsAtMost } from './pattern-steps.ts'

/** Loaded with the first pattern: a gateway without any starts without it. */
const load = (): typeof import('re2js') => createRequire(import.meta.url)('re2js')

/** Steps of the longest program that is made of a pattern: a tenth of a second. */
const mostSteps = 20_000

/** Whether a text is a regular expression in RE2 syntax that can be used; those that repeat far too much cannot. */
export function isPattern(source: string): boolean {
  if (stepsAtMost(source) > mostSteps) return false
  try {
    load().RE2JS.compile(source)
    return true
  } catch {
    return false
  }
}

/**
 * The steps of a pattern's program, each of which may be taken for each character; undefined for what is no pattern. Of one that has
 * far too many the number is not exact.
 */
export function patternSize(source: string): number | undefined {
  const steps = stepsAtMost(source)
  return steps > mostSteps ? steps : readable(() => load().RE2JS.compile(source).programSize())
}

/** The test whether an operator's pattern matches anywhere in a text, in time linear in the text. */
export function patternTest(source: string): (text: string) => boolean {
  const pattern = load().RE2JS.compile(source)
  return (text) => pattern.matcher(text).find()
}

/** Stands for text that is not looked at: no letter or digit, and no end of a line or of the text. */
const more = '\uffff'

/** Whether a pattern may tell that text, or that nothing follows, from what a part of a text ends in. */
const seesMore = (source: string): boolean =>
  /[.^$\\]|\P{ASCII}/u.test(source.replace(/\\(?:[wds]|[^\w\s])/g, ''))

/**
 * Finds what an operator's pattern matches, on an engine without backtracking. A match depends on fewer than `longest`
 * characters from its beginning on and on the one before it, so that findings are local; of a longer one the first
 * `longest - 1` characters count. It takes linear time, except for patterns that match only texts of more than `longest`
 * characters.
 */
export function patternFinder(source: string, longest: number): Finder {
  const pattern = load().RE2JS.compile(source)
  const isBlind = !seesMore(source)
  /** The first match that begins at `from` or later, as if the text went on behind `to`. */
  const match = (text: string, from: number, to: number) => {
    const base = Math.max(0, from - 1)
    const matcher = pattern.matcher(to < text.length ? text.slice(base, to) + more : text.slice(base))
    if (!matcher.find(from - base)) return undefined
    return { start: base + matcher.start(), end: Math.min(base + matcher.end(), to) }
  }
  return (text, from) => {
    // Most often the next match of a text full of them begins right here, and is short: then nothing behind it is looked at.
    const here = match(text, from, from + longest)
    if (here?.start === from && here.end > from && (here.end < from + longest || isBlind))
      return { start: from, end: Math.min(here.end, from + longest - 1) }
    /** Up to here, a larger part has shown that something longer begins; smaller parts do not show it again and again. */
    let doubtful = from
    /** Parts are small at first: what begins in each has all of it looked at. */
    let size = 2 * longest
    for (let at = from; at < text.length; ) {
      const end = at + (at < doubtful ? 2 * longest : size)
      size = Math.min(2 * size, Math.max(8 * longest, 4096))
      const candidate = match(text, at, end)
      const start = candidate?.start ?? end
      // A match that begins before the last `longest` characters of this part ends inside it.
      if (start > end - longest && end < text.length) {
        at = end - longest + 1
        continue
      }
      if (!candidate) return undefined
      const isHere = start === from && start + longest < text.length
      const local = isHere
        ? here
        : start + longest < text.length
          ? match(text, start, start + longest)
          : candidate
      if (local?.start === start && local.end > start) {
        return { start, end: Math.min(local.end, start + longest - 1) }
      }
      doubtful = Math.max(doubtful, end)
      at = start + 1
    }
    return undefined
  }
}

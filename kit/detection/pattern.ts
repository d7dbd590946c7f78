import { createRequire } from 'node:module'
import { readable } from '../readable.ts'
import type { Finder } from './find-all.ts'

/** Loaded with the first pattern: a gateway without any starts without it. */
const load = (): typeof import('re2js') => createRequire(import.meta.url)('re2js')

/** Whether a text is a regular expression in RE2 syntax. */
export function isPattern(source: string): boolean {
  try {
    load().RE2JS.compile(source)
    return true
  } catch {
    return false
  }
}

/** The steps of a pattern's program, each of which may be taken for each character; undefined for what is no pattern. */
export const patternSize = (source: string): number | undefined =>
  readable(() => load().RE2JS.compile(source).programSize())

/** The test whether an operator's pattern matches anywhere in a text, in time linear in the text. */
export function patternTest(source: string): (text: string) => boolean {
  const pattern = load().RE2JS.compile(source)
  return (text) => pattern.matcher(text).find()
}

/** Stands for text that is not looked at: no letter or digit, and no end of a line or of the text. */
const more = '\uffff'

/**
 * Finds what an operator's pattern matches, on an engine without backtracking. A match depends on fewer than `longest`
 * characters from its beginning on and on the one before it, so that findings are local; of a longer one the first
 * `longest - 1` characters count. It takes linear time, except for patterns that match only texts of more than `longest`
 * characters.
 */
export function patternFinder(source: string, longest: number): Finder {
  const pattern = load().RE2JS.compile(source)
  /** The first match that begins at `from` or later, as if the text went on behind `to`. */
  const match = (text: string, from: number, to: number) => {
    const base = Math.max(0, from - 1)
    const matcher = pattern.matcher(to < text.length ? text.slice(base, to) + more : text.slice(base))
    if (!matcher.find(from - base)) return undefined
    return { start: base + matcher.start(), end: Math.min(base + matcher.end(), to) }
  }
  return (text, from) => {
    /** Up to here, a larger part has shown that something longer begins; smaller parts do not show it again and again. */
    let doubtful = from
    for (let at = from; at < text.length; ) {
      const end = at + (at < doubtful ? 2 * longest : Math.max(8 * longest, 4096))
      const candidate = match(text, at, end)
      const start = candidate?.start ?? end
      // A match that begins before the last `longest` characters of this part ends inside it.
      if (start > end - longest && end < text.length) {
        at = end - longest + 1
        continue
      }
      if (!candidate) return undefined
      const local = start + longest < text.length ? match(text, start, start + longest) : candidate
      if (local?.start === start && local.end > start) {
        return { start, end: Math.min(local.end, start + longest - 1) }
      }
      doubtful = Math.max(doubtful, end)
      at = start + 1
    }
    return undefined
  }
}

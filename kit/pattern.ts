import { createRequire } from 'node:module'
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

/**
 * Finds what an operator's pattern matches, on an engine without backtracking. Only matches shorter than `longest`
 * characters count, and whether there is one is decided by the text up to there, so that findings are local.
 */
export function patternFinder(source: string, longest: number): Finder {
  const pattern = load().RE2JS.compile(source)
  const match = (text: string, from: number, to: number) => {
    const matcher = pattern.matcher(to < text.length ? text.slice(0, to) : text)
    return matcher.find(from) ? { start: matcher.start(), end: matcher.end() } : undefined
  }
  return (text, from) => {
    let at = from
    while (at < text.length) {
      // A match that starts before the last `longest` characters of this part ends inside it.
      const end = Math.max(at + 8 * longest, at + 4096)
      const candidate = match(text, at, end)
      const start = candidate?.start ?? end
      if (start > end - longest && end < text.length) {
        at = end - longest + 1
        continue
      }
      if (!candidate) return undefined
      const local = start + longest < text.length ? match(text, start, start + longest) : candidate
      if (local?.start === start && local.end > start && local.end - start < longest) return local
      at = start + 1
    }
    return undefined
  }
}

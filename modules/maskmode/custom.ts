import { RE2JS } from 're2js'
import type { Finder } from '#kit'
import type { Entity } from './entities.ts'

/** Longest match that counts, in characters. */
const longest = 200

/** An operator's pattern, on an engine without backtracking. */
export function customFinder({ type, pattern }: { type: string; pattern: string }): Finder<Entity> {
  const expression = RE2JS.compile(pattern)
  return (text, from) => {
    const matcher = expression.matcher(text)
    for (let at = from; at <= text.length && matcher.find(at); at = Math.max(matcher.end(), at + 1)) {
      const [start, end] = [matcher.start(), matcher.end()]
      if (end > start && end - start <= longest) return { start, end, type }
    }
    return undefined
  }
}

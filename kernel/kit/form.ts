import type { Finder, Finding } from '../chain/detect.ts'

/** What a thing looks like in text. Patterns are bounded, and matched by JavaScript's own engine: never an operator's. */
export interface Form {
  /** What stands right before it, at most `lookBehind` characters; the pattern is then sticky. */
  readonly after?: RegExp
  readonly pattern: RegExp
  /** Whether what matches is one after all. */
  readonly holds?: (match: string) => boolean
}

/** How far a form looks back for what stands before it, in characters. */
export const lookBehind = 128

/** Finds what has a form. The match alone is the finding; what stands before it may have left already. */
export function formFinder({ after, pattern, holds }: Form): Finder {
  return after ? finderAfter(after, pattern, holds) : finderOf(pattern, holds)
}

function finderOf(pattern: RegExp, holds: Form['holds']): Finder {
  const sought = new RegExp(pattern)
  return (text, from) => {
    sought.lastIndex = from
    for (let match = sought.exec(text); match; match = sought.exec(text)) {
      const found = { start: match.index, end: sought.lastIndex }
      if (found.end > found.start && (!holds || holds(match[0]))) return found
      sought.lastIndex = match.index + 1
    }
    return undefined
  }
}

function finderAfter(after: RegExp, pattern: RegExp, holds: Form['holds']): Finder {
  const before = new RegExp(after)
  const sought = new RegExp(pattern)
  return (text, from) => {
    before.lastIndex = Math.max(0, from - lookBehind)
    while (before.test(text)) {
      const start = before.lastIndex
      const match = start < from ? undefined : matchAt(sought, text, start)
      if (match && (!holds || holds(match))) return { start, end: start + match.length } satisfies Finding
    }
    return undefined
  }
}

function matchAt(sticky: RegExp, text: string, at: number): string | undefined {
  sticky.lastIndex = at
  return sticky.exec(text)?.[0]
}

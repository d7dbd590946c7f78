import type { Finder, Finding } from './find-all.ts'

/** The form of a thing in text. Patterns are bounded, and matched by JavaScript's own engine: never an operator's. */
export interface Form {
  /** The text right before it, at most `lookBehind` characters; the pattern is then sticky. */
  readonly after?: RegExp
  readonly pattern: RegExp
  /** Whether what matches is one after all. */
  readonly holds?: (match: string) => boolean
  /**
   * A part that every match contains. The search looks only at the text around signs, so that most of most texts costs no more
   * than the search for the sign: it should be rare, and begin with a rare character.
   */
  readonly sign?: Sign
}

/** Something within a match. */
export interface Sign {
  readonly pattern: RegExp
  /** Its first one begins no more than so many characters after the match. */
  readonly within: number
}

/** How far a form looks back for what stands before it, in characters. */
export const lookBehind = 128

/** Finds texts of a form. The match alone is the finding; the text before it may have left already. */
export function formFinder({ after, pattern, holds, sign }: Form): Finder {
  if (after) return finderAfter(after, pattern, holds)
  return sign ? finderAround(sign, pattern, holds) : finderOf(pattern, holds)
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

/** Tries each place from which a sign is near enough, once. */
function finderAround({ pattern: near, within }: Sign, pattern: RegExp, holds: Form['holds']): Finder {
  const signs = new RegExp(near, withFlag(near, 'g'))
  const sought = new RegExp(pattern, withFlag(pattern, 'y').replace('g', ''))
  return (text, from) => {
    for (let start = from; ; ) {
      signs.lastIndex = start
      const sign = signs.exec(text)
      if (!sign) return undefined
      for (start = Math.max(start, sign.index - within); start <= sign.index; start += 1) {
        const match = matchAt(sought, text, start)
        if (match && (!holds || holds(match))) return { start, end: start + match.length }
      }
    }
  }
}

const withFlag = ({ flags }: RegExp, flag: string): string => (flags.includes(flag) ? flags : flags + flag)

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
  const match = sticky.exec(text)
  // From the middle of a character, the engine goes back to where it begins.
  return match?.index === at ? match[0] : undefined
}

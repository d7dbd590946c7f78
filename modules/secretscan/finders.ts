import { RE2JS } from 're2js'
import type { Finder, Finding } from '#kit'
import { entropyOf, type Rule, rules } from './rules.ts'

export interface Secret extends Finding {
  readonly label: string
}

/** A pattern of the operator's own. */
export interface CustomRule {
  readonly label: string
  readonly pattern: string
}

/** Longest match of a custom pattern that counts, in characters. */
export const longestCustom = 500

/** What looks for secrets: the known forms, and the operator's, which run on an engine without backtracking. */
export function findersOf(custom: readonly CustomRule[]): Finder<Secret>[] {
  return [...rules.map(finderOf), ...custom.map(customFinderOf)]
}

function finderOf({ label, pattern, group, entropy = 0 }: Rule): Finder<Secret> {
  const sought = new RegExp(pattern.source, `${pattern.flags}d`)
  return (text, from) => {
    sought.lastIndex = from
    for (let match = sought.exec(text); match; match = sought.exec(text)) {
      const [start, end] = match.indices![group ?? 0]!
      if (entropyOf(text.slice(start, end)) >= entropy) return { start, end, label }
    }
    return undefined
  }
}

function customFinderOf({ label, pattern }: CustomRule): Finder<Secret> {
  const expression = RE2JS.compile(pattern)
  return (text, from) => {
    const matcher = expression.matcher(text)
    for (let at = from; at <= text.length && matcher.find(at); at = Math.max(matcher.end(), at + 1)) {
      const [start, end] = [matcher.start(), matcher.end()]
      if (end > start && end - start <= longestCustom) return { start, end, label }
    }
    return undefined
  }
}

/** Whether a custom pattern may match across words: then as much as it may match is held back. */
export const spansWords = ({ pattern }: CustomRule): boolean => /\s|\.|\[\^|\\[sSWDpP]/.test(pattern)

/**
 * From where on a secret may still be coming: an open private key, or the last words, since a name, a sign and a value
 * make three of them.
 */
export function openFrom(text: string, from: number): number {
  const key = text.lastIndexOf('-----BEGIN')
  if (key >= from && !/-----END [A-Z ]{0,40}-----/.test(text.slice(key))) return key
  let at = text.length
  for (let words = 0; words < 4 && at > from; words += 1) {
    while (at > from && !/\s/.test(text[at - 1]!)) at -= 1
    if (words < 3) while (at > from && /\s/.test(text[at - 1]!)) at -= 1
  }
  return at
}

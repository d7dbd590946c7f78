import type { WordTest } from './matcher.ts'
import type { WordCategory } from './words.ts'

export interface FoundWord {
  readonly start: number
  readonly end: number
  readonly category: WordCategory
}

/** Characters of the longest word that is looked at, and of a row of single letters. */
export const longest = 160

const letter = String.raw`\p{L}\p{M}\p{N}\p{DI}Ⓐ-ⓩ`
const within = String.raw`${letter}@$!*#•.'’_+|€\-`
/** A row of single letters with spaces between, or a word. */
const unit = new RegExp(
  `(?<![${within}])(?:(?:[${letter}] {1,3}){2,39}[${letter}]|[${within}]{1,${longest}})(?![${within}])`,
  'gu',
)
const edges = /^[.'’_\-*#•|+!]+|[.'’_\-*#•|!]+$/g

/** The words of a text, from `from` on, that have a category; rows of single letters are read as a word. */
export function wordsIn(text: string, from: number, test: WordTest): FoundWord[] {
  const found: FoundWord[] = []
  unit.lastIndex = from
  for (let match = unit.exec(text); match; match = unit.exec(text)) {
    const [written] = match
    const word = written.replace(edges, '')
    const category = word === '' ? undefined : test(word.replace(/ /g, ''))
    if (!category) continue
    const start = match.index + written.indexOf(word)
    found.push({ start, end: start + word.length, category })
  }
  return found
}

const isWithin = new RegExp(`^[${within}\\p{Cs}]$`, 'u')
const lastLetter = new RegExp(`(?<![${within}])[${letter}] {1,3}$`, 'u')

/** Where the last word of a text begins, or the row of single letters that it may belong to, at `from` or later. */
export function openFrom(text: string, from: number): number {
  const first = Math.max(from, text.length - longest)
  let at = text.length
  while (at > first && isWithin.test(text[at - 1]!)) at -= 1
  for (;;) {
    const [row] = lastLetter.exec(text.slice(Math.max(0, at - 5), at)) ?? []
    if (row === undefined || at - row.length < first) return at
    at -= row.length
  }
}

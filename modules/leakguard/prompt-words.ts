/** A word as it is compared: without case and accents. */
export interface PromptWord {
  readonly word: string
  readonly start: number
  readonly end: number
  /** About how many tokens a model takes for it. */
  readonly tokens: number
}

/** Letters of a token, in words of most languages. */
const lettersOfToken = 5
/** Longer words are taken apart, so that none is longer than what a stream may hold back. */
const longest = 40
/** More than this between two words parts them: what stands so far apart is not repeated as it was. */
const widest = 12

/** The longest text that so many tokens can be, in characters. */
export const longestOf = (tokens: number): number => (tokens + 2) * (lettersOfToken + widest) + longest

const dense = '[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{sc=Thai}]'
const letter = `(?:(?!${dense})[\\p{L}\\p{M}\\p{N}])`
/** A word begins where none goes on: not in the middle of one of which the first part has left. */
const form = new RegExp(`${dense}|(?<!${letter})${letter}{1,${longest}}`, 'gu')

/** The words of a text from a place on; of scripts without spaces, each character. */
export function wordsFrom(text: string, from = 0): PromptWord[] {
  const words: PromptWord[] = []
  form.lastIndex = from
  for (let match = form.exec(text); match; match = form.exec(text)) {
    const word = match[0].normalize('NFKC').toLowerCase()
    const tokens = Math.ceil(match[0].length / lettersOfToken)
    words.push({ word, start: match.index, end: form.lastIndex, tokens })
  }
  return words
}

/** Whether two words are near enough to be part of the same repetition. */
export const areNear = (before: PromptWord, word: PromptWord): boolean => word.start - before.end <= widest

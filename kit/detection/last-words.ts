const isSpace = (character: string | undefined): boolean => character !== undefined && /\s/.test(character)

/**
 * Where the last words of a text begin, at `from` or later. For `open` of a detection: a finding of at most so many words, with
 * spaces between them, that begins before is whole.
 */
export function lastWords(words: number, text: string, from: number): number {
  let at = text.length
  for (let left = words; left > 0 && at > from; left -= 1) {
    while (at > from && isSpace(text[at - 1])) at -= 1
    while (at > from && !isSpace(text[at - 1])) at -= 1
  }
  return at
}

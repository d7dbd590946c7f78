/** Longer texts are compared by their beginnings. */
const longest = 50_000

/**
 * How alike two texts are, from 0 to 1: the share of words and pairs of neighbouring words that they have in common
 * (Sørensen and Dice). Letter case and punctuation do not count. It knows no meaning: other words for the same are unlike.
 */
export function similarity(a: string, b: string): number {
  if (a === b) return 1
  const [those, these] = [countsOf(a), countsOf(b)]
  const all = sum(those) + sum(these)
  if (all === 0) return 1
  let common = 0
  for (const [term, count] of those) common += Math.min(count, these.get(term) ?? 0)
  return (2 * common) / all
}

/** The words of a text, or of the beginning of a long one, in lower case and without punctuation. */
export const wordsOf = (text: string): readonly string[] =>
  text.slice(0, longest).toLowerCase().match(wordForm) ?? []

function countsOf(text: string): Map<string, number> {
  const words = wordsOf(text)
  const counts = new Map<string, number>()
  const count = (term: string): void => void counts.set(term, (counts.get(term) ?? 0) + 1)
  for (const [i, word] of words.entries()) {
    count(word)
    if (i > 0) count(`${words[i - 1]} ${word}`)
  }
  return counts
}

/** A run of letters and digits; of scripts that put no space between words, each character. */
const wordForm =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}]|(?:(?![\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}])[\p{L}\p{M}\p{N}])+/gu

function sum(counts: ReadonlyMap<string, number>): number {
  let total = 0
  for (const count of counts.values()) total += count
  return total
}

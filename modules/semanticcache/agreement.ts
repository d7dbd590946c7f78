import type { Completion } from '#kernel'
import { answerTexts, similarity } from '#kit'
import { tokensOf } from './tokens.ts'

/** The share of words and pairs of words that two answers to one question have in common at least. */
const alike = 0.5
const negations = new Set(['no', 'not', 'never', 'none', 'nor', 'nothing', 'without'])

/**
 * Whether two answers say the same, as far as words show it: the same numbers, as many negations, and half of the words. It
 * is strict, so the precision that is measured with it is rather too low than too high.
 */
export function agree(kept: Completion, fresh: Completion): boolean {
  const [a, b] = [kept, fresh].map((body) => answerTexts(body).join('\n')) as [string, string]
  return factsOf(a) === factsOf(b) && similarity(a, b) >= alike
}

function factsOf(text: string): string {
  const words = tokensOf(text).map((token) => token.text)
  const numbers = words.filter((word) => /\p{N}/u.test(word)).sort()
  return JSON.stringify([numbers, words.filter((word) => negations.has(word)).length])
}

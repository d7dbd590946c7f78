import { withoutCourtesy } from './courtesy.ts'
import { tokensOf } from './tokens.ts'
import { inOneOrder } from './word-order.ts'

/**
 * What is left of a question without letter case, punctuation, politeness and orders of words that do not matter. Two questions of
 * one form are near duplicates: every number, name, negation, quotation and word is in both.
 */
export const formOf = (question: string): readonly string[] => inOneOrder(withoutCourtesy(tokensOf(question)))

const light = new Set(['a', 'an', 'the', 'is', 'are', 'am', 'do', 'does'])
const asking = new Set(['do', 'does', 'can', 'could', 'to'])
const asker = new Set(['i', 'we', 'one'])

/**
 * What two questions must have in common before their embeddings are compared: the words with a content of their own, in their
 * order. Embeddings of "2 apples" and "3 apples", or of who bites whom, are almost the same.
 */
export function contentOf(form: readonly string[]): readonly string[] {
  const asked = form[0] === 'how' && asking.has(form[1] ?? '') ? (asker.has(form[2] ?? '') ? 3 : 2) : 0
  const rest = form.slice(asked).filter((word, at, all) => !light.has(word) || at === all.length - 1)
  return [...(asked > 0 ? ['how'] : []), ...rest.map(singular)]
}

const singular = (word: string): string => (/^[a-z]{3,}[^su\W\d]s$/.test(word) ? word.slice(0, -1) : word)

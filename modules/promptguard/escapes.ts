import { firstAt, type Passage } from './passage.ts'
import { type Signal, spanOf } from './signal.ts'
import type { Word } from './words.ts'

/** Another self that nothing binds. */
export function* escapes(passage: Passage): Generator<Signal> {
  for (const word of passage.of('role')) {
    const unbound = passage.near(word, 'unbound', 6, 60)
    const free = unbound ? undefined : freeNear(passage, word, 60)
    const found = unbound ?? free?.limit
    const self = passage.near(word, 'model', 6, 14) ?? passage.near(word, 'your', 4, 10)
    const weight = unbound || (free && (self || free.isTwice)) ? 0.8 : found ? 0.4 : self ? 0.15 : 0.1
    yield { kind: 'role_escape', weight, ...spanOf(word, found) }
  }
  for (const word of passage.of('unbound')) {
    const yours = passage.near(word, 'your', 8, 8)
    const another = passage.near(word, 'unbound', 25, 25)
    const length = word.end - word.start
    // A phrase says more than a word.
    const weight = another && yours ? 0.75 : another ? 0.6 : yours ? 0.5 : length > 10 ? 0.4 : 0.15
    yield { kind: 'role_escape', weight, ...spanOf(word, another) }
  }
  for (const word of [...passage.of('your'), ...passage.of('model')]) {
    const free = freeNear(passage, word, 10)
    if (free) yield { kind: 'no_limits', weight: free.isTwice ? 0.72 : 0.4, ...spanOf(word, free.limit) }
  }
}

/** "Without any restrictions", and the like, behind a word; and whether it names two of them. */
function freeNear(
  passage: Passage,
  word: Word,
  behind: number,
): { limit: Word; isTwice: boolean } | undefined {
  const negations = passage.of('negation')
  for (let i = firstAt(negations, word.at - 6); i < negations.length; i += 1) {
    const negation = negations[i]!
    if (negation.at > word.at + behind) return undefined
    const limit = passage.near(negation, 'limits', 2, 4)
    if (limit) return { limit, isTwice: passage.near(limit, 'limits', 0, 7) !== undefined }
  }
  return undefined
}

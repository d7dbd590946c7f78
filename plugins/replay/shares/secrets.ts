import { badRequest } from '#kernel'
import { type SearchBudget, SecretSearch } from '#kit'

/** How long the texts of one share may take, in milliseconds. */
const budgetMs = 2000

/** Keeps credentials out of what anybody can read. The rules are loaded with the first share. */
export class SecretGate {
  #search: SecretSearch | undefined

  /** Refuses what has a credential in any of its texts or names of fields, and says where and of which kind. */
  check(content: unknown): void {
    this.#search ??= new SecretSearch()
    const budget: SearchBudget = { ms: budgetMs }
    for (const [text, place] of textsIn(content, '')) {
      const [found] = this.#search.secretsIn(text, 0, budget)
      if (!found) continue
      const { label, start, end } = found
      throw badRequest(
        `body ${place}: what anybody can read must hold no secret, and this looks like one (${label}).`,
        { param: place, details: { kind: label, start, end } },
      )
    }
  }
}

/** Every text in a value, names of fields included, with its place. */
function* textsIn(value: unknown, place: string): Generator<readonly [text: string, place: string]> {
  if (typeof value === 'string') yield [value, place]
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [name, place === '' ? 'names' : place]
    yield* textsIn(inner, place === '' ? name : `${place}.${name}`)
  }
}

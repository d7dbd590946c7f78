import { type Finder, findAll } from '#kit'
import { type CustomRule, customFinder, ruleFinder, type Secret } from './finders.ts'
import { type Budget, Library } from './library.ts'
import type { Rule } from './rules.ts'
import { surveyed } from './survey.ts'

/** Looks for secrets with an operator's patterns, our rules and the library; it skips the ones that cannot match. */
export class Search {
  readonly #library = new Library()
  readonly #finders: readonly Finder<Secret>[]
  readonly #anywhere: readonly Finder<Secret>[]

  constructor(custom: readonly CustomRule[], rules: readonly Rule[]) {
    const own = custom.map(customFinder)
    this.#finders = [...own, ...rules.map(ruleFinder)]
    this.#anywhere = [...own, ...rules.filter(({ anywhere }) => anywhere).map(ruleFinder)]
  }

  /** Secrets that start at `from` or later. Throws a coded error when there is no time left for it. */
  secretsIn(text: string, from: number, budget: Budget): Secret[] {
    const survey = surveyed(text, from)
    const finders = survey.mayHold ? this.#finders : this.#anywhere
    return findAll(
      survey.suspects.length === 0 ? finders : [...finders, this.#library.finder(survey, budget)],
      text,
      from,
    )
  }
}

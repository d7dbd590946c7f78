import { type Finder, findAll } from '../detection/find-all.ts'
import { customFinder, ruleFinder, type Secret, type SecretPattern } from './finders.ts'
import { Library, type SearchBudget } from './library.ts'
import { randomText, rules } from './rules.ts'
import { surveyed } from './survey.ts'

/** What counts as a secret beside keys, tokens and passwords by their form. */
export interface SecretSearchOptions {
  /** An operator's patterns. */
  readonly custom?: readonly SecretPattern[]
  /** Random values: those with a telling name, which is the default, all of 24 to 128 characters, or none. */
  readonly entropy?: 'named' | 'any' | 'off'
}

/**
 * Looks for secrets with an operator's patterns, our rules and the library; it skips the ones that cannot match. The first instance
 * loads the library.
 */
export class SecretSearch {
  readonly #library = new Library()
  readonly #finders: readonly Finder<Secret>[]
  readonly #anywhere: readonly Finder<Secret>[]

  constructor({ custom = [], entropy = 'named' }: SecretSearchOptions = {}) {
    const byForm = rules.filter(({ label }) => entropy !== 'off' || label !== 'secret')
    const all = entropy === 'any' ? [...byForm, randomText] : byForm
    const own = custom.map(customFinder)
    this.#finders = [...own, ...all.map(ruleFinder)]
    this.#anywhere = [...own, ...all.filter(({ anywhere }) => anywhere).map(ruleFinder)]
  }

  /**
   * Secrets that start at `from` or later, in their order and without overlaps. Throws 413 when `budget` has no time left for it,
   * which goes down with every search.
   */
  secretsIn(text: string, from: number, budget: SearchBudget): Secret[] {
    const survey = surveyed(text, from)
    const finders = survey.mayHold ? this.#finders : this.#anywhere
    return findAll(
      survey.suspects.length === 0 ? finders : [...finders, this.#library.finder(survey, budget)],
      text,
      from,
    )
  }
}

import type { Awaitable } from '#kernel'
import { parseForeign, patternTest, type Schemas, similarity, wordsOf } from '#kit'
import type { Assertion } from './assertion.ts'
import { longestMatched, schemaTest } from './patterns.ts'

/** An assertion that needs no model. */
export type Check = Exclude<Assertion, { type: 'judge' }>

/** Gives an answer a score from 0 to 1. */
type Scorer = (answer: string, expected: string | undefined) => Awaitable<number>

/** Scorers, each made once: patterns and schemas take time. */
export class Scorers {
  readonly #schemas: Schemas
  readonly #made = new Map<Check, Scorer>()

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  score(check: Check, answer: string, expected: string | undefined): Awaitable<number> {
    let scorer = this.#made.get(check)
    if (!scorer) {
      scorer = scorerOf(check, this.#schemas)
      this.#made.set(check, scorer)
    }
    return scorer(answer, expected)
  }
}

/** Whether an answer with this score passes. */
export const passes = (assertion: Assertion, score: number): boolean =>
  score >= ('threshold' in assertion ? assertion.threshold : 1)

function scorerOf(check: Check, schemas: Schemas): Scorer {
  switch (check.type) {
    case 'equals': {
      const folded = foldedFor(check)
      return (answer, expected = '') =>
        Number(folded(answer).trim() === folded(check.text ?? expected).trim())
    }
    case 'contains': {
      const folded = foldedFor(check)
      return (answer, expected = '') => Number(folded(answer).includes(folded(check.text ?? expected)))
    }
    case 'regex': {
      const matches = patternTest(check.pattern)
      return (answer) => Number(answer.length <= longestMatched && matches(answer))
    }
    case 'length':
      return ({ length }) => Number(length >= check.min_chars && length <= check.max_chars)
    case 'concise':
      return (answer) => Math.min(1, check.max_words / Math.max(1, wordsOf(answer).length))
    case 'json':
      return (answer) => Number(valueIn(answer) !== undefined)
    case 'json_schema': {
      const matches = schemaTest(schemas, check.schema)
      return async (answer) => {
        const value = valueIn(answer)
        return Number(value !== undefined && (await matches(value.json, answer.length)))
      }
    }
    case 'similarity':
      return (answer, expected = '') => similarity(answer, check.text ?? expected)
  }
}

const foldedFor =
  ({ ignore_case: isFolded }: { readonly ignore_case: boolean }) =>
  (text: string) =>
    isFolded ? text.toLowerCase() : text

function valueIn(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: parseForeign(text) }
  } catch {
    return undefined
  }
}

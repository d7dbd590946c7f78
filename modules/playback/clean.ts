import type { Completion } from '#kernel'
import { type SearchBudget, SecretSearch, spanFor } from '#kit'

/** Milliseconds that the search of one request or answer may take. */
const budgetMs = 1000

interface Progress extends SearchBudget {
  /** Secrets so far. */
  found: number
}

/** Puts marks in the place of secrets, in whatever text of a JSON value they stand. */
export class Cleaner {
  readonly #search = new SecretSearch()

  /** The value without secrets, with the fields of all objects in one order. Throws 413 when the search takes too long. */
  clean<T>(value: T): T {
    return this.#walk(value, '', { ms: budgetMs, found: 0 }) as T
  }

  /** The same for an answer. Log probabilities spell it once more, token by token, so they go where it has a secret. */
  cleanAnswer(body: Completion): Completion {
    const progress = { ms: budgetMs, found: 0 }
    const clean = this.#walk(body, '', progress) as Completion
    if (progress.found === 0 || !clean.choices) return clean
    return { ...clean, choices: clean.choices.map(({ logprobs: _, ...choice }) => choice) }
  }

  #walk(value: unknown, name: string, progress: Progress): unknown {
    if (typeof value === 'string') return this.#cleanText(value, name, progress)
    if (Array.isArray(value)) return value.map((item) => this.#walk(item, name, progress))
    if (typeof value !== 'object' || value === null) return value
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([field, item]) => [this.#cleanText(field, '', progress), this.#walk(item, field, progress)])
    return Object.fromEntries(fields)
  }

  /** The name of a field may be all that tells of a secret: `authorization_token`, and a random value. */
  #cleanText(text: string, name: string, progress: Progress): string {
    const label = name === '' ? '' : `${name}: `
    const whole = label + text
    let clean = ''
    let from = label.length
    for (const secret of this.#search.secretsIn(whole, 0, progress)) {
      const start = Math.max(secret.start, label.length)
      if (secret.end <= start) continue
      const { replacement = '' } = spanFor(secret, secret.label, 'redact')
      clean += whole.slice(from, start) + replacement
      from = secret.end
      progress.found += 1
    }
    return clean + whole.slice(from)
  }
}

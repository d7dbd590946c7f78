import { type SearchBudget, SecretSearch } from '#kit'
import type { Said } from '../target/said.ts'

/** Characters that are searched for secrets, and that are shown. */
const most = { searched: 4000, shown: 300 }
const budgetMs = 500

/** Beginnings of answers as evidence, without secrets. The rules are loaded with the first one. */
export class Previews {
  #search: SecretSearch | undefined

  /** `keys` are left out wherever they stand. */
  of(said: Said, keys: readonly string[]): string {
    if (said.kind !== 'answered') return ''
    const called = said.toolCalls.map(({ name, arguments: written }) => `${name}(${written})`)
    const whole = [said.refusal ?? said.text, ...called].filter((part) => part !== '').join('\n')
    return this.clean(whole, keys).slice(0, most.shown)
  }

  /** The beginning of a text without secrets; nothing of one that could not be searched in time. */
  clean(text: string, keys: readonly string[]): string {
    const own = keys.reduce((without, key) => without.replaceAll(key, '[secret]'), text)
    const searched = own.slice(0, most.searched)
    this.#search ??= new SecretSearch()
    const budget: SearchBudget = { ms: budgetMs }
    try {
      const secrets = this.#search.secretsIn(searched, 0, budget)
      return secrets.reduceRight(
        (without, { start, end }) => `${without.slice(0, start)}[secret]${without.slice(end)}`,
        searched,
      )
    } catch {
      return ''
    }
  }
}

import { randomInt } from 'node:crypto'

const letters = 'bcdfghjkmnpqrstvwxz'

/** The placeholders of one call: a value has one, the same wherever it stands. */
export class Vault {
  /** Tells this call's placeholders from text that happens to look like one; only consonants, so that it is no word. */
  readonly #tag = Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join('')
  readonly #byValue = new Map<string, string>()
  readonly #values = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #form = new RegExp(
    `\\[?\\b([A-Za-z][A-Za-z0-9]{0,39})[ _-]?(\\d{1,5})[ _-]?${this.#tag}\\b\\]?`,
    'gi',
  )

  get isEmpty(): boolean {
    return this.#values.size === 0
  }

  /** What stands for a value. */
  placeholderFor(type: string, value: string): string {
    const name = type.replaceAll('_', '').toUpperCase()
    const key = `${name} ${value}`
    const known = this.#byValue.get(key)
    if (known) return known
    const n = (this.#counts.get(name) ?? 0) + 1
    this.#counts.set(name, n)
    const placeholder = `[${name}_${n}_${this.#tag}]`
    this.#byValue.set(key, placeholder)
    this.#values.set(`${name} ${n}`, value)
    return placeholder
  }

  /** The first placeholder from there on, also in other case, without brackets, or with other signs between. */
  find(text: string, from: number): { start: number; end: number; value: string } | undefined {
    this.#form.lastIndex = from
    for (let match = this.#form.exec(text); match; match = this.#form.exec(text)) {
      const value = this.#values.get(`${match[1]!.toUpperCase()} ${Number(match[2])}`)
      if (value !== undefined) return { start: match.index, end: match.index + match[0].length, value }
    }
    return undefined
  }
}

/** Longest placeholder in any form, in characters. */
export const longest = 64

import { createHmac } from 'node:crypto'

/** No vowels and no signs that are mistaken for others: codes are no words, and are read as they are written. */
export const alphabet = '23456789BCDFGHJKLMNPQRSTVWXZ'
export const codeLength = 6
const code = `[${alphabet}${alphabet.toLowerCase()}]{${codeLength}}`

/** Longest placeholder in any form, in characters. */
export const longest = 64

interface Placeholder {
  readonly start: number
  readonly end: number
  readonly label: string
  readonly value: string
}

/**
 * The placeholders of one call, such as `[EMAIL_7KQ4X2]`. The code alone tells which value is meant, so that the rest
 * may be inflected, translated, or dropped by a model. It follows from the value, the caller and a key: a value has
 * the same one in every turn of a conversation, which keeps caches and signed thoughts of providers valid. A code that
 * stands somewhere in the call already is not used.
 */
export class Vault {
  readonly #secret: string
  readonly #isTaken: (code: string) => boolean
  readonly #byValue = new Map<string, string>()
  readonly #byCode = new Map<string, { readonly type: string; readonly value: string }>()
  readonly #sought = new RegExp(`(?<![\\p{L}\\d])${code}|(?<=%5F)${code}`, 'giu')
  readonly #names = new Set<string>()
  /** Their names, as a part of a pattern. */
  #types = ''

  /** `isTaken` tells whether a code stands in the call's own texts. */
  constructor(secret: string, isTaken: (code: string) => boolean) {
    this.#secret = secret
    this.#isTaken = isTaken
  }

  get isEmpty(): boolean {
    return this.#byCode.size === 0
  }

  /** The placeholder of a value. */
  placeholderFor(type: string, value: string): string {
    const key = `${type} ${value}`
    let placeholder = this.#byValue.get(key)
    if (placeholder === undefined) {
      const name = nameOf(type)
      const code = this.#freeCode(key)
      placeholder = `[${name}_${code}]`
      this.#byValue.set(key, placeholder)
      this.#byCode.set(code, { type, value })
      if (!this.#names.has(name)) this.#types = [...this.#names.add(name)].join('|')
    }
    return placeholder
  }

  /** The first placeholder that begins at `from` or later, however it is written. */
  find(text: string, from: number): Placeholder | undefined {
    const sought = this.#sought
    sought.lastIndex = from
    for (let match = sought.exec(text); match; match = sought.exec(text)) {
      const known = this.#byCode.get(match[0].toUpperCase())
      if (known && endsHere(match[0], text[sought.lastIndex])) {
        return this.#extended(text, from, match.index, sought.lastIndex, known)
      }
      sought.lastIndex = match.index + 1
    }
    return undefined
  }

  /** From where on a placeholder may still be coming. */
  openFrom(text: string, from: number): number {
    const first = Math.max(from, text.length - longest)
    const last = runStart(text, first, text.length)
    if (last === first || !/[ -]/.test(text[last - 1]!)) return last
    const before = runStart(text, first, last - 1)
    const name = text.slice(before, last - 1)
    return new RegExp(`(?:^|[^\\p{L}\\d])(?:${this.#types})$`, 'iu').test(name) ? before : last
  }

  /** With what belongs to it on either side: a name, and brackets, unless they make a link of it. */
  #extended(
    text: string,
    from: number,
    start: number,
    end: number,
    known: { type: string; value: string },
  ): Placeholder {
    const name = `(?:(?:(?<=%5B)|(?<![\\p{L}\\d%]))[\\p{L}\\d]{1,40}(?:\\\\?_|%5F)|(?<![\\p{L}\\d])(?:${this.#types})[ -])`
    const before = text.slice(Math.max(0, start - longest), start)
    const room = start - from
    const [found = ''] = new RegExp(`${name}?$`, 'iu').exec(before) ?? []
    const named = found.length <= room ? found : ''
    const [bracket = ''] = /(?:\\?\[|%5B)$/i.exec(before.slice(0, before.length - named.length)) ?? []
    const opening = named.length + bracket.length <= room ? bracket : ''
    const [closing = ''] = (opening && /^(?:\\?\]|%5D)(?!\()/i.exec(text.slice(end, end + 4))) || []
    const inUrl = closing.startsWith('%') || /%5F$/i.test(named)
    return {
      start: start - named.length - (closing ? opening.length : 0),
      end: end + closing.length,
      label: known.type,
      value: inUrl ? encodeURIComponent(known.value) : known.value,
    }
  }

  #freeCode(key: string): string {
    for (let n = 0; ; n += 1) {
      const digest = createHmac('sha256', this.#secret).update(`${n} ${key}`).digest()
      const code = Array.from(
        digest.subarray(0, codeLength),
        (byte) => alphabet[byte % alphabet.length],
      ).join('')
      if (!this.#byCode.has(code) && /\d/.test(code) && /[A-Z]/.test(code) && !this.#isTaken(code))
        return code
    }
  }
}

/** The word for a kind of data in its placeholders. */
const nameOf = (type: string): string => type.replaceAll('_', '').toUpperCase()

/** Whether a code ends before this character: an ending may follow it, in another case than its own. */
const endsHere = (code: string, next = ''): boolean =>
  !/[\p{L}\d]/u.test(next) || (code === code.toUpperCase() && /\p{Ll}/u.test(next))

/** Where the last characters begin that placeholders are made of. */
function runStart(text: string, first: number, end: number): number {
  let at = end
  while (at > first && /[\p{L}\d_\\[\]%]/u.test(text[at - 1]!)) at -= 1
  return at
}

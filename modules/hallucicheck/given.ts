import { isAbout, isReckoned } from './arithmetic.ts'
import { type Claim, citation } from './claims.ts'
import { datesIn } from './dates.ts'
import { type Quantity, quantitiesIn } from './quantities.ts'
import { addressesIn, bareWords, sameAddress } from './words.ts'

/** Characters of what was given that are looked at: its end, where the newest is. */
const looked = 400_000

/** What an answer may be made from: what the caller, its documents and its tools said. */
export class Given {
  readonly #text: string
  readonly #addresses: ReadonlySet<string>
  readonly #marks: ReadonlySet<string>
  readonly #days: ReadonlySet<string>
  readonly #quantities: readonly Quantity[]
  #words: string | undefined

  constructor(texts: readonly string[]) {
    const text = texts.join('\n').slice(-looked)
    this.#text = text
    this.#addresses = new Set(addressesIn(text).map(({ address }) => sameAddress(address)))
    this.#marks = new Set([...text.matchAll(citation)].map((match) => (match[1] ?? match[2])!.toLowerCase()))
    this.#days = new Set(datesIn(text).flatMap(({ days }) => days))
    this.#quantities = quantitiesIn(withoutNames(text))
  }

  get length(): number {
    return this.#text.length
  }

  /** Whether a claim says nothing that was not given. */
  supports(claim: Claim): boolean {
    switch (claim.kind) {
      case 'url':
        return this.#addresses.has(sameAddress(claim.address))
      case 'citation':
        // Where nothing has a mark, a number in brackets cites nothing of it.
        return this.#marks.size === 0 || this.#marks.has(claim.mark)
      case 'quote':
        this.#words ??= bareWords(this.#text)
        return this.#words.includes(claim.words)
      case 'date':
        return claim.days.some((day) => this.#days.has(day))
      case 'quantity':
        return this.#counts(claim.quantity)
    }
  }

  #counts(quantity: Quantity): boolean {
    const { unit, readings } = quantity
    const isGiven = this.#quantities.some(
      (given) =>
        (given.unit === unit || given.unit === undefined) &&
        given.readings.some(({ value }) => readings.some((reading) => isAbout(reading, value))),
    )
    return isGiven || isReckoned(quantity, this.#quantities)
  }
}

/** Digits of dates, addresses and marks are no quantities, and would make up many. */
function withoutNames(text: string): string {
  const places = [...datesIn(text), ...addressesIn(text)].sort((a, b) => a.start - b.start)
  let plain = ''
  let at = 0
  for (const { start, end } of places) {
    if (start < at) continue
    plain += `${text.slice(at, start)} ; `
    at = end
  }
  return (plain + text.slice(at)).replace(citation, ' ; ')
}

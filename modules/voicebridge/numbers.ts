import type { Words } from './languages/words.ts'

/** More digits than this are an identifier, which is spoken digit by digit. */
const mostDigits = 15
/** A number that is part of no word: a sign, digits in groups, decimals. */
const written = /(?:(?<![\p{L}\p{N}_.,-])-?|(?<=[\p{L}\d.,]-))\d(?:[\d.,]*\d)?(?![\p{L}\p{N}_])/gu
/** A number of a telephone, or the like. */
const chained = /(?<![\p{L}\p{N}_-])\d{1,6}(?:-\d{1,6}){2,6}(?![\p{L}\p{N}_-])/gu

/** The text with times, dates, amounts of money, quantities, ranges and numbers in words. */
export class Numbers {
  readonly #words: Words
  readonly #quantity: RegExp
  readonly #moneyFirst: RegExp
  readonly #moneyLast: RegExp

  constructor(words: Words) {
    this.#words = words
    const number = String.raw`(?<![\p{L}\p{N}_.,])(-?\d[\d.,]*\d|-?\d)`
    const units = alternatives(Object.keys(words.units))
    const money = alternatives(Object.keys(words.money))
    const scale = String.raw`(?:[ \u00a0](${words.scales.join('|')}))?`
    this.#quantity = new RegExp(`${number}[ \\u00a0\\u202f]?(${units})(?![\\p{L}\\p{N}/²³])`, 'gu')
    this.#moneyFirst = new RegExp(
      `(?<![\\p{L}\\p{N}])(${money})[ \\u00a0]?(\\d[\\d.,]*\\d|\\d)${scale}(?!\\p{L})`,
      'gu',
    )
    this.#moneyLast = new RegExp(`${number}${scale}[ \\u00a0\\u202f]?(${money})(?![\\p{L}\\p{N}])`, 'gu')
  }

  spoken(text: string): string {
    const { to, time, date } = this.#words
    return text
      .replace(/\b(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b/g, (_, y, m, d) =>
        date(Number(y), Number(m), Number(d)),
      )
      .replace(chained, (digits) =>
        digits
          .split('-')
          .map((part) => this.#digits(part))
          .join(', '),
      )
      .replace(/\b([01]?\d|2[0-3]):([0-5]\d)(?! ?[:\d])(?: Uhr\b)?/g, (_, h, m) => time(Number(h), Number(m)))
      .replace(/(?<=\d[%°€$]?) ?[–—-] ?(?=[€$£]?\d+(?![\d-]*-))/g, (dash, at: number, whole: string) =>
        isRange(dash, at, whole) ? ` ${to} ` : dash,
      )
      .replace(this.#moneyFirst, (_, sign, digits, scale) => this.#amount(digits, scale, sign))
      .replace(this.#moneyLast, (_, digits, scale, sign) => this.#amount(digits, scale, sign))
      .replace(this.#quantity, (_, digits, unit) => this.#counted(digits, this.#words.units[unit]!))
      .replace(written, (digits) => this.#number(digits, true))
  }

  #amount(digits: string, scale: string | undefined, sign: string): string {
    const [one, many, rest] = this.#words.money[sign]!
    if (scale) return `${this.#number(digits, false)} ${scale} ${many}`
    const { whole, decimals } = this.#parts(digits)
    if (decimals?.length !== 2 || whole === undefined) return this.#counted(digits, [one, many])
    const units = whole === 1 ? one : `${this.#words.cardinal(whole)} ${many}`
    return Number(decimals) === 0 ? units : units + rest(this.#words.cardinal(Number(decimals)))
  }

  #counted(digits: string, [one, many]: readonly [one: string, many: string]): string {
    return digits === '1' ? one : `${this.#number(digits, false)} ${many}`
  }

  /** A number in words. */
  #number(written: string, mayBeYear: boolean): string {
    const { minus, cardinal, year, point } = this.#words
    const digits = written.replace(/^-/, '')
    const sign = written.startsWith('-') ? `${minus} ` : ''
    const { whole, decimals } = this.#parts(digits)
    if (whole === undefined) return sign + this.#byPart(digits)
    const isYear = mayBeYear && /^(?:1[1-9]|20)\d\d$/.test(digits)
    const spoken = isYear ? year(whole) : cardinal(whole)
    return sign + spoken + (decimals === undefined ? '' : ` ${point} ${this.#digits(decimals)}`)
  }

  /** The value of a number as the language writes it; no `whole` where it is something else, such as a version. */
  #parts(digits: string): { readonly whole?: number; readonly decimals?: string } {
    const { group, decimal } = this.#words
    const [, before, decimals] =
      new RegExp(`^(\\d+|\\d{1,3}(?:\\${group}\\d{3})+)(?:\\${decimal}(\\d+))?$`).exec(digits) ?? []
    const bare = before?.replaceAll(group, '') ?? ''
    if (bare === '' || bare.length > mostDigits || /^0\d/.test(bare)) return {}
    return { whole: Number(bare), ...(decimals !== undefined && { decimals }) }
  }

  /** A version or an identifier: its parts with points between, long parts digit by digit. */
  #byPart(digits: string): string {
    const { cardinal, group, decimal, point } = this.#words
    const between = group === '.' ? 'Punkt' : point
    return digits
      .split(/([.,])/)
      .map((part) => {
        if (part === '.') return ` ${between} `
        if (part === ',') return decimal === ',' ? ` ${point} ` : ', '
        return part.length > 6 || /^0\d/.test(part)
          ? this.#digits(part)
          : part === ''
            ? ''
            : cardinal(Number(part))
      })
      .join('')
  }

  #digits(digits: string): string {
    return Array.from(digits, (digit) => this.#words.cardinal(Number(digit))).join(' ')
  }
}

/** A dash between two numbers is a range where a typographic one stands there, or nothing but two numbers. */
function isRange(dash: string, at: number, whole: string): boolean {
  if (/[–—]/.test(dash)) return true
  const before = /[\p{L}\d.,-]*$/u.exec(whole.slice(Math.max(0, at - 30), at))![0]
  return dash === '-' && /^\d{1,4}$/.test(before) && /^-\d{1,4}(?![\d-])/.test(whole.slice(at))
}

const alternatives = (names: readonly string[]): string =>
  names
    .toSorted((a, b) => b.length - a.length)
    .map((name) => name.replace(/[$/.]/g, '\\$&'))
    .join('|')

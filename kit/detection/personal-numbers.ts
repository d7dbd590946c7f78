import { createRequire } from 'node:module'

type Phones = typeof import('awesome-phonenumber')

let library: Phones | undefined
/** Loaded with the first number that looks like a phone's, as few gateways need it. */
function phones(): Phones {
  library ??= createRequire(import.meta.url)('awesome-phonenumber') as Phones
  return library
}

/** Spain's DNI and NIE: the letter is the number modulo 23. */
export function isDni(text: string): boolean {
  const plain = text.replaceAll(/[ -]/g, '').toUpperCase()
  const number = Number(plain.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter))))
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23] === plain.at(-1)
}

/** Brazil's CPF: two check digits, each a weighted sum modulo 11. */
export function isCpf(text: string): boolean {
  const digits = digitsOf(text)
  if (digits.length !== 11 || new Set(digits).size === 1) return false
  const check = (length: number): number => ((weigh(digits.slice(0, length), length + 1) * 10) % 11) % 10
  return check(9) === digits[9] && check(10) === digits[10]
}

/** France's NIR: the last two digits are 97 less the rest modulo 97; Corsica's letters count as digits. */
export function isNir(text: string): boolean {
  const plain = text.replaceAll(' ', '').replace(/2A/i, '19').replace(/2B/i, '18')
  return 97n - (BigInt(plain.slice(0, 13)) % 97n) === BigInt(plain.slice(13))
}

/** China's resident number, GB 11643: a weighted sum modulo 11, ten written as X. */
export function isResidentNumber(text: string): boolean {
  const weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]
  const sum = weights.reduce((total, weight, n) => total + weight * Number(text[n]), 0)
  return '10X98765432'[sum % 11] === text.at(-1)!.toUpperCase()
}

/** A number that can be called: with its country code, or as these countries, such as US, write their own. */
export function isPhone(text: string, countries: readonly string[]): boolean {
  const digits = text.replace(/\D/g, '')
  if (text.startsWith('+')) return mayHaveCode(digits) && phones().parsePhoneNumber(text).valid
  if (/^\d{1,3}(?: \d{3})+$|^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$/.test(text)) return false
  return countries.some((regionCode) => {
    if (isNorthAmerican(regionCode) && !northAmerican.test(digits)) return false
    const { valid, number } = phones().parsePhoneNumber(text, { regionCode })
    // Written in full, its trunk prefix included: some countries' numbers would otherwise be any row of digits.
    return valid && number.national.replace(/\D/g, '') === digits
  })
}

/** North America's numbers, which the library takes long to refuse: it asks each of two dozen countries. */
const northAmerican = /^(?:[2-9]\d{9}|3\d{6})$/
const isNorthAmerican = (country: string): boolean => phones().getCountryCodeForRegionCode(country) === 1

/** Whether a number may be one with its country code; none begins with 0, and North America's is 1. */
const mayHaveCode = (digits: string): boolean =>
  digits[0] === '1' ? northAmerican.test(digits.replace(/^11?/, '')) : digits[0] !== '0'

const digitsOf = (text: string): number[] => Array.from(text.replace(/\D/g, ''), Number)

const weigh = (digits: readonly number[], from: number): number =>
  digits.reduce((sum, digit, n) => sum + digit * (from - n), 0)

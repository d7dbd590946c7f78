import { getCountryCodeForRegionCode, getSupportedRegionCodes, parsePhoneNumber } from 'awesome-phonenumber'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { isPhone } from './personal-numbers.ts'

/** What the library says of a number, without any shortcut. */
function isKnown(text: string, regionCode: string): boolean {
  if (text.startsWith('+')) return parsePhoneNumber(text).valid
  const { valid, number } = parsePhoneNumber(text, { regionCode })
  return valid && number.national.replace(/\D/g, '') === text
}

const northAmerican = getSupportedRegionCodes().filter((code) => getCountryCodeForRegionCode(code) === 1)
const digits = (min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max })

test('North American numbers are those that the library knows', () => {
  const head = fc.constantFrom(
    '',
    '',
    '',
    '1',
    '0',
    '011',
    '00',
    '212',
    '415',
    '1868',
    '876',
    '310',
    '+',
    '+0',
    '+11',
    '+1212',
    '+1415',
    '+1310',
    '+11310',
    '+10',
    '+1',
  )
  let known = 0
  fc.assert(
    fc.property(fc.constantFrom(...northAmerican), head, digits(4, 11), (country, begin, rest) => {
      const text = begin + rest
      const expected = isKnown(text, country)
      if (expected) known += 1
      expect(isPhone(text, [country]), `${text} in ${country}`).toBe(expected)
    }),
    runs(8000),
  )
  expect(known).toBeGreaterThan(20)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareText } from '../conformance/harness.ts'
import { parseInteger, prefixRange, sortableInteger, sortableValue } from './keys.ts'

const text = fc.string({
  unit: fc.constantFrom('\0', '\u0001', '\u0002', 'a', '~', 'é', '\uFFEE', '\u{1F600}'),
})

test('numbers sort as keys as they do as numbers', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true }), fc.double({ noNaN: true }), (a, b) => {
      const order = compareText(sortableValue(a) ?? '', sortableValue(b) ?? '')
      expect(order).toBe(a === b ? 0 : a < b ? -1 : 1)
    }),
  )
})

test('short strings sort as keys as their bytes do, also before a terminator', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(compareText(`${sortableValue(a)}\0x`, `${sortableValue(b)}\0x`)).toBe(compareText(a, b))
    }),
  )
})

test('booleans sort before numbers and numbers before strings; NaN is no value', () => {
  const values = [false, true, Number.NEGATIVE_INFINITY, -1, 0, 1e300, '', 'a'].map((value) =>
    sortableValue(value),
  )
  expect(values).toEqual(values.toSorted((a, b) => compareText(a ?? '', b ?? '')))
  expect([sortableValue(Number.NaN), sortableValue(undefined)]).toEqual([undefined, undefined])
  expect(sortableValue(-0)).toBe(sortableValue(0))
})

test('integers come back and sort', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 48 - 1), fc.nat(2 ** 48 - 1), (a, b) => {
      expect(parseInteger(sortableInteger(a))).toBe(a)
      expect(sortableInteger(a) < sortableInteger(b)).toBe(a < b)
    }),
  )
})

test('the range of a prefix holds exactly the keys that begin with it', () => {
  fc.assert(
    fc.property(text, text, (prefix, other) => {
      const { gte, lt } = prefixRange(`${prefix}!`)
      const inside = compareText(other, gte) >= 0 && compareText(other, lt) < 0
      expect(inside).toBe(other.startsWith(`${prefix}!`))
      expect(compareText(`${prefix}!${other}`, lt)).toBe(-1)
    }),
  )
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addNano, mostCallUsd, nanoOf, usdOf } from './money.ts'

test('nano-dollars are the same again after they were dollars, up to two million dollars', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2e15 }), (nano) => {
      expect(nanoOf(usdOf(nano))).toBe(nano)
    }),
  )
  expect(usdOf(1)).toBe(1e-9)
  expect(nanoOf(0.000_000_001_6)).toBe(2)
})

test('sums are exact up to where whole numbers end, and stay there', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 53 - 1 }), fc.nat(mostCallUsd * 1e9), (a, b) => {
      const exact = BigInt(a) + BigInt(b)
      expect(BigInt(addNano(a, b))).toBe(exact > 2n ** 53n - 1n ? 2n ** 53n - 1n : exact)
    }),
  )
})

import { expect, test } from 'vitest'
import { wilson } from './interval.ts'

test('agrees with published values of the interval', () => {
  // Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
  const rounded = (hits: number, tries: number) =>
    Object.values(wilson(hits, tries, 0.95)).map((bound) => Math.round(bound * 1e4) / 1e4)
  expect(rounded(81, 263)).toEqual([0.2553, 0.3662])
  expect(rounded(15, 148)).toEqual([0.0624, 0.1605])
  expect(rounded(0, 20)).toEqual([0, 0.1611])
  expect(rounded(1, 29)).toEqual([0.0061, 0.1718])
})

test('says nothing of no tries, and more with more of them and with less confidence', () => {
  expect(wilson(0, 0, 0.95)).toEqual({ low: 0, high: 1 })
  const lows = [10, 20, 40, 200].map((tries) => wilson(tries, tries, 0.95).low)
  expect(lows).toEqual(lows.toSorted((a, b) => a - b))
  const byConfidence = [0.99, 0.98, 0.95, 0.9, 0.8].map((confidence) => wilson(9, 10, confidence).low)
  expect(byConfidence).toEqual(byConfidence.toSorted((a, b) => a - b))
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rungOf, rungsFrom } from './ladder.ts'

const amount = fc.oneof(fc.nat(100), fc.nat(1_000_000), fc.integer({ min: 0, max: 5e12 }))

test('the rungs from a threshold have every value that passes it, and only such where they are exact', () => {
  fc.assert(
    fc.property(amount, amount, (value, threshold) => {
      const { rungs, exact } = rungsFrom(threshold)
      const found = rungs.includes(rungOf(value))
      if (value >= threshold) expect(found).toBe(true)
      if (exact) expect(found).toBe(value >= threshold)
    }),
    { numRuns: 2000 },
  )
})

test('thresholds that people write are exact', () => {
  for (const threshold of [0, 10, 100, 150, 250_000, 1_000_000, 1_500_000, 30_000_000, 1e9]) {
    expect([threshold, rungsFrom(threshold).exact]).toEqual([threshold, true])
  }
})

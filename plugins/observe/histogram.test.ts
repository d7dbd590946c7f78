import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketOf, quantile } from './histogram.ts'

test('a quantile is within a tenth of the true one', () => {
  const durations = fc.array(fc.integer({ min: 1, max: 600_000_000 }), { minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(durations, fc.constantFrom(0.5, 0.95, 0.99, 1), (values, share) => {
      const counts = new Map<number, number>()
      for (const value of values) counts.set(bucketOf(value), (counts.get(bucketOf(value)) ?? 0) + 1)
      const truth = values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!
      expect(quantile(counts, share)).toBeGreaterThan(truth * 0.9)
      expect(quantile(counts, share)).toBeLessThan(truth * 1.1)
    }),
    { examples: [[[1], 0.5]] },
  )
})

test('of nothing there is no quantile', () => {
  expect(quantile(new Map(), 0.95)).toBe(0)
})

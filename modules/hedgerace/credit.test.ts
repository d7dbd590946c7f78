import fc from 'fast-check'
import { expect, test } from 'vitest'
import { earn, newCredit, spend } from './credit.ts'

test('whenever extra calls are wanted, there are at most so many to a hundred', () => {
  const wanted = fc.array(fc.boolean(), { minLength: 1, maxLength: 500 })
  fc.assert(
    fc.property(wanted, fc.integer({ min: 1, max: 100 }), (calls, pct) => {
      const credit = newCredit()
      let extra = 0
      for (const [i, isSlow] of calls.entries()) {
        earn(credit, pct)
        if (isSlow && spend(credit)) extra += 1
        expect(extra * 100).toBeLessThanOrEqual((i + 1) * pct)
      }
    }),
  )
})

test('a long time without extra calls allows ten at once and no more', () => {
  const credit = newCredit()
  for (let n = 0; n < 10_000; n += 1) earn(credit, 5)
  expect(Array.from({ length: 20 }, () => spend(credit)).filter(Boolean)).toHaveLength(10)
})

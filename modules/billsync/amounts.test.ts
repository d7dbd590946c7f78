import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amountOfNano, decimalOf, priceOf, roundedLines } from './amounts.ts'
import { idOfRates, type Rates, termsFor } from './rates.ts'

const nano = fc.integer({ min: 0, max: 100_000 * 1e9 })
const markup = fc.integer({ min: -10_000, max: 1_000_000 })
const lines = fc.array(fc.record({ costs: fc.array(nano, { maxLength: 20 }), markup }), { maxLength: 12 })

test('the total is the exact sum rounded once, the lines add up to it, and none is off by a whole unit', () => {
  fc.assert(
    fc.property(lines, fc.integer({ min: 1, max: 1_000_000 * 1_000_000 }), (given, rate) => {
      const amounts = given.map(({ costs, markup }) =>
        costs.reduce((sum, cost) => sum + priceOf(cost, markup, 0), 0n),
      )
      const { lines, total } = roundedLines(amounts, rate)
      const [unit, sum] = [10_000n * 1_000_000n, amounts.reduce((a, b) => a + b, 0n) * BigInt(rate)]
      expect(lines.reduce((a, b) => a + b, 0n)).toBe(total)
      // Twice the distance from the exact sum is at most a unit.
      const off = 2n * (total * unit - sum)
      expect(off <= unit && off > -unit).toBe(true)
      for (const [i, line] of lines.entries()) {
        const difference = line * unit - amounts[i]! * BigInt(rate)
        expect(difference < unit && difference > -unit).toBe(true)
      }
    }),
  )
})

test('without a markup a line is the cost itself', () => {
  fc.assert(
    fc.property(fc.array(nano), (costs) => {
      const { lines } = roundedLines(
        costs.map((cost) => priceOf(cost, 0, 0)),
        1_000_000,
      )
      expect(lines).toEqual(costs.map(BigInt))
    }),
  )
})

test('a price is exact to a hundredth of a percent, and at least the least', () => {
  expect(priceOf(1, 1, 0)).toBe(10_001n)
  expect(priceOf(100, -10_000, 0)).toBe(0n)
  expect(priceOf(100, 0, 101)).toBe(amountOfNano(101))
})

test('decimal texts have nine places', () => {
  expect([0n, 1n, 999_999_999n, 1_000_000_000n, 12_345_678_901n].map(decimalOf)).toEqual([
    '0.000000000',
    '0.000000001',
    '0.999999999',
    '1.000000000',
    '12.345678901',
  ])
})

const rates: Rates = {
  markup_pct: 10,
  min_call_usd: 0.001,
  min_month_usd: 5,
  own_keys: false,
  plans: { pro: { markup_pct: 7.25, min_month_usd: 0 } },
  tenants: { acme: { markup_pct: 0 } },
}

test('the rate of a tenant goes before that of a plan, and that before the rate of all, each by itself', () => {
  expect(termsFor(rates, 'pro', 'acme')).toMatchObject({ markup: 0, minMonthNano: 0, minCallNano: 1_000_000 })
  expect(termsFor(rates, 'pro', undefined)).toMatchObject({ markup: 725, minMonthNano: 0 })
  expect(termsFor(rates, 'free', 'globex')).toMatchObject({ markup: 1000, minMonthNano: 5e9 })
  expect(termsFor(rates, 'constructor', '__proto__')).toMatchObject({ markup: 1000 })
  expect(idOfRates(rates)).not.toBe(idOfRates({ ...rates, markup_pct: 11 }))
  expect(idOfRates(structuredClone(rates))).toBe(idOfRates(rates))
})

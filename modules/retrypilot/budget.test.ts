import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { countTry, least, newBudget, takeRetry, windowS } from './budget.ts'

test('a quiet gateway may retry, but not without end', () => {
  const budget = newBudget()
  countTry(budget, 0)
  const taken = Array.from({ length: 3 * least }, () => takeRetry(budget, 20, 0))
  expect(taken.filter(Boolean)).toHaveLength(least)
})

test('what is too old to count makes room again', () => {
  const budget = newBudget()
  for (let n = 0; n < least; n += 1) takeRetry(budget, 20, 0)
  expect(takeRetry(budget, 20, (windowS - 1) * 1000)).toBe(false)
  expect(takeRetry(budget, 20, windowS * 1000)).toBe(true)
})

test('retries are not among the tries that allow more of them', () => {
  const budget = newBudget()
  for (let n = 0; n < 100; n += 1) countTry(budget, 0)
  let taken = 0
  while (takeRetry(budget, 20, 0)) {
    countTry(budget, 0)
    taken += 1
  }
  expect(taken).toBe(20)
})

test('whenever calls come, the load is at most the calls and their share, or one more a second', () => {
  const gaps = fc.array(fc.nat(400), { minLength: 1, maxLength: 400 })
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 100 }), (gaps, pct) => {
      const budget = newBudget()
      const sent: { at: number; retry: boolean }[] = []
      let now = 0
      for (const gap of gaps) {
        now += gap
        countTry(budget, now)
        sent.push({ at: now, retry: false })
        if (!takeRetry(budget, pct, now)) continue
        countTry(budget, now)
        sent.push({ at: now, retry: true })
      }
      for (let from = 0; from <= now; from += 1000) {
        const window = sent.filter(({ at }) => at >= from && at < from + windowS * 1000)
        const retries = window.filter(({ retry }) => retry).length
        const calls = window.length - retries
        expect(retries).toBeLessThanOrEqual(Math.max(least, (calls * pct) / 100))
      }
    }),
    runs(50),
  )
})

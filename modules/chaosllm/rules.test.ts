import { expect, test } from 'vitest'
import type { Attempt } from '#kernel'
import { faultsOf, type Rule } from './rules.ts'

const rule = (fault: 'reset' | 'malformed', percent: number, models = ['*']): Rule => ({
  fault,
  percent,
  models,
})
const attempt = { provider: 'openai', model: 'gpt-4o' } as Attempt

const drawn = (rules: readonly Rule[], seed: number, times = 2000) => {
  const of = faultsOf(rules, seed)
  return Array.from({ length: times }, () => of(attempt)?.name)
}

test('the same seed gives the same faults, and another one gives others', () => {
  const rules = [rule('reset', 10)]
  expect(drawn(rules, 1)).toEqual(drawn(rules, 1))
  expect(drawn(rules, 1)).not.toEqual(drawn(rules, 2))
})

test.each([0, 5, 50, 100])('%d per cent of the attempts get the fault', (percent) => {
  const hits = drawn([rule('reset', percent)], 7, 20_000).filter(Boolean).length
  expect(Math.abs(hits / 200 - percent)).toBeLessThan(percent % 100 === 0 ? 1e-9 : 1)
})

test('of several rules the first that hits counts, and each draws for itself', () => {
  const both = drawn([rule('reset', 50), rule('malformed', 50)], 3, 20_000)
  const share = (name: string) => both.filter((one) => one === name).length / 20_000
  expect(share('reset')).toBeCloseTo(0.5, 1)
  expect(share('malformed')).toBeCloseTo(0.25, 1)
})

test.each([
  [['gpt-*'], true],
  [['openai/*'], true],
  [['anthropic/*', 'claude*'], false],
])('%j', (models, hits) => {
  expect(drawn([rule('reset', 100, models)], 1, 1)).toEqual([hits ? 'reset' : undefined])
})

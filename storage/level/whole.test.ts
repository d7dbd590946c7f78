import { expect, test } from 'vitest'
import { addUp } from './whole.ts'

const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least } = Number

test('sums end where whole numbers do, on both sides', () => {
  expect(addUp(2, -5)).toBe(-3)
  expect([addUp(most, 1), addUp(most - 1, 1), addUp(most, most), addUp(most, -1)]).toEqual([
    most,
    most,
    most,
    most - 1,
  ])
  expect([addUp(least, -1), addUp(least + 1, -1), addUp(least, least), addUp(least, 1)]).toEqual([
    least,
    least,
    least,
    least + 1,
  ])
})

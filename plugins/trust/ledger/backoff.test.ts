import { expect, test } from 'vitest'
import { Backoff } from './backoff.ts'

/** Chances until the next is taken. */
function passedBy(backoff: Backoff): number {
  let passed = 0
  while (!backoff.takes()) passed += 1
  return passed
}

test('each chance is taken while they are of use', () => {
  const backoff = new Backoff()
  for (let n = 0; n < 5; n++) {
    expect(backoff.takes()).toBe(true)
    backoff.ended(true)
  }
})

test('twice as many pass after each that was in vain, up to a bound, and none once one is of use', () => {
  const backoff = new Backoff()
  const passed: number[] = []
  for (let n = 0; n < 9; n++) {
    backoff.ended(false)
    passed.push(passedBy(backoff))
  }
  expect(passed).toEqual([1, 2, 4, 8, 16, 32, 64, 64, 64])
  backoff.ended(true)
  expect(passedBy(backoff)).toBe(0)
  backoff.ended(false)
  expect(passedBy(backoff)).toBe(1)
})

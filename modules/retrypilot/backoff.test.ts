import fc from 'fast-check'
import { expect, test } from 'vitest'
import { waitBefore } from './backoff.ts'

const backoff = { baseMs: 200, maxMs: 2000 }

test('the bound doubles with each retry, up to the longest wait', () => {
  const longest = [0, 1, 2, 3, 4, 5].map((n) => waitBefore(n, backoff, undefined, () => 1))
  expect(longest).toEqual([200, 400, 800, 1600, 2000, 2000])
})

test('the wait is anything below the bound', () => {
  expect(waitBefore(1, backoff, undefined, () => 0)).toBe(0)
  expect(waitBefore(1, backoff, undefined, () => 0.5)).toBe(200)
})

test('what the provider asks for is waited, and a little more, so that not all come back at once', () => {
  expect(waitBefore(0, backoff, 1, () => 0)).toBe(1000)
  expect(waitBefore(0, backoff, 1, () => 0.5)).toBe(1100)
})

test('a provider that asks for too long is not waited for', () => {
  expect(waitBefore(0, backoff, 2.001, () => 0)).toBeUndefined()
  expect(waitBefore(0, backoff, 2, () => 1)).toBe(2000)
})

test('no wait is negative, longer than the longest, or shorter than asked for', () => {
  const random = fc.double({ min: 0, max: 1, noNaN: true })
  const asked = fc.option(fc.double({ min: 0, max: 5, noNaN: true }), { nil: undefined })
  fc.assert(
    fc.property(fc.nat(20), random, asked, (n, value, retryAfterS) => {
      const wait = waitBefore(n, backoff, retryAfterS, () => value)
      const asked = (retryAfterS ?? 0) * 1000
      expect(wait === undefined).toBe(asked > backoff.maxMs)
      expect(wait ?? asked).toBeGreaterThanOrEqual(asked)
      expect(wait ?? 0).toBeLessThanOrEqual(backoff.maxMs)
    }),
  )
})

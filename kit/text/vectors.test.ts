import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cosine } from './vectors.ts'

const vector = fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 3, maxLength: 3 })

test('the cosine is from -1 to 1, the same both ways, and does not depend on lengths', () => {
  fc.assert(
    fc.property(vector, vector, fc.integer({ min: 1, max: 9 }), (a, b, times) => {
      const found = cosine(a, b)
      expect(Math.abs(found)).toBeLessThanOrEqual(1)
      expect(cosine(b, a)).toBe(found)
      expect(
        cosine(
          a,
          b.map((x) => x * times),
        ),
      ).toBeCloseTo(found, 9)
      if (a.some((x) => x !== 0)) expect(cosine(a, a)).toBeCloseTo(1, 9)
    }),
  )
})

test('what cannot be compared is unlike', () => {
  expect([cosine([1], [1, 0]), cosine([0, 0], [1, 0]), cosine([], []), cosine([Number.NaN], [1])]).toEqual([
    0, 0, 0, 0,
  ])
})

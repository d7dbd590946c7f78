import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaleOf, scale as scaleShape, scoreOf } from './rating.ts'

test.each([
  [-1, 'thumb', 0],
  [0, 'thumb', 0.5],
  [1, 'thumb', 1],
  [1, 'stars', 0],
  [3, 'stars', 0.5],
  [5, 'stars', 1],
  [7, { min: 0, max: 10 }, 0.7],
  [-5, { min: -10, max: 0 }, 0.5],
] as const)('%d on the scale %j is %d', (rating, scale, score) => {
  expect(scoreOf(rating, scale)).toBeCloseTo(score, 12)
})

test.each([
  [2, 'thumb'],
  [0.5, 'thumb'],
  [0, 'stars'],
  [6, 'stars'],
  [11, { min: 0, max: 10 }],
] as const)('%d is not on the scale %j', (rating, scale) => {
  expect(() => scoreOf(rating, scale)).toThrow('body rating')
})

test('a better rating has a higher score, and all scores are from 0 to 1', () => {
  const bound = fc.double({ min: -1e6, max: 1e6, noNaN: true })
  fc.assert(
    fc.property(
      bound,
      fc.double({ min: 0.001, max: 1e6, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (min, span, at) => {
        const scale = { min, max: min + span }
        const score = scoreOf(Math.min(scale.max, min + at * span), scale)
        expect(score).toBeGreaterThanOrEqual(0)
        expect(score).toBeLessThanOrEqual(1)
        expect(score).toBeCloseTo(at, 3)
      },
    ),
  )
})

test('without a scale -1, 0 and 1 are thumbs and the rest are stars', () => {
  expect([-1, 0, 1, 2, 5].map(scaleOf)).toEqual(['thumb', 'thumb', 'thumb', 'stars', 'stars'])
})

test('a scale has a length that is a number', () => {
  expect(scaleShape.safeParse({ min: -1e308, max: 1e308 }).success).toBe(false)
  expect(scaleShape.safeParse({ min: -8e307, max: 8e307 }).success).toBe(true)
  expect(scoreOf(4e307, { min: -8e307, max: 8e307 })).toBeCloseTo(0.75, 12)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { similarity } from './similarity.ts'

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'ü', '猫', ' ', '.', '1'), maxLength: 40 })

test('it is from 0 to 1, the same both ways, and 1 for a text and itself', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const alike = similarity(a, b)
      expect(alike).toBeGreaterThanOrEqual(0)
      expect(alike).toBeLessThanOrEqual(1)
      expect(similarity(b, a)).toBe(alike)
      expect(similarity(a, `${a} !`)).toBe(1)
    }),
  )
})

test.each([
  ['The cat sat on the mat.', 'the cat sat, on the MAT', 1],
  ['The cat sat on the mat.', 'The cat sat on the sofa.', 9 / 11],
  ['one two', 'two one', 2 / 3],
  ['我喜欢猫', '我喜欢狗', 5 / 7],
  ['yes', 'no', 0],
  ['', '', 1],
  ['', 'something', 0],
])('%s and %s', (a, b, alike) => {
  expect(similarity(a, b)).toBeCloseTo(alike, 12)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareExactness, pathMatcher } from './paths.ts'

const literals = ['a', 'b', 'a.b', '{x}', '{x}.b', 'a.{x}', '{+x}'] as const
const path = fc
  .array(fc.constantFrom(...literals), { minLength: 1, maxLength: 4 })
  .map((segments) => `/${segments.map((segment, i) => segment.replace('x', `x${i}`)).join('/')}`)

test('the order of paths is one: whatever order they come in, they leave in the same', () => {
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 8 }), fc.infiniteStream(fc.nat()), (paths, random) => {
      const ranked = paths.toSorted(compareExactness)
      const mixed = paths.map((one) => ({ one, at: random.next().value as number }))
      const again = mixed
        .sort((a, b) => a.at - b.at)
        .map(({ one }) => one)
        .sort(compareExactness)
      again.forEach((one, i) => {
        expect(compareExactness(one, ranked[i]!)).toBe(0)
      })
    }),
  )
})

test('a path without parameters comes before every path that has them and fits it', () => {
  const literal = fc
    .array(fc.constantFrom('a', 'b', 'a.b'), { minLength: 1, maxLength: 4 })
    .map((segments) => `/${segments.join('/')}`)
  fc.assert(
    fc.property(literal, path, (exact, form) => {
      fc.pre(form.includes('{') && pathMatcher(form)(exact) !== undefined)
      expect(compareExactness(exact, form)).toBeLessThan(0)
      expect(compareExactness(form, exact)).toBeGreaterThan(0)
    }),
  )
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mostExactFirst, pathMatcher } from './path-forms.ts'

const literals = ['a', 'b', 'a.b', '{x}', '{x}.b', 'a.{x}', '{+x}'] as const
const path = fc
  .array(fc.constantFrom(...literals), { minLength: 1, maxLength: 4 })
  .map((segments) => `/${segments.map((segment, i) => segment.replace('x', `x${i}`)).join('/')}`)

const sorted = (...paths: readonly string[]): string[] =>
  mostExactFirst(paths.map((path) => ({ path }))).map(({ path }) => path)

test('the order of paths is one: whatever order they come in, they leave in the same', () => {
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 8 }), fc.infiniteStream(fc.nat()), (paths, random) => {
      const ranked = sorted(...paths)
      const mixed = paths.map((one) => ({ one, at: random.next().value as number }))
      const again = sorted(...mixed.sort((a, b) => a.at - b.at).map(({ one }) => one))
      again.forEach((one, i) => {
        // Equals keep the order in which they come.
        expect(sorted(one, ranked[i]!)[0]).toBe(one)
        expect(sorted(ranked[i]!, one)[0]).toBe(ranked[i])
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
      expect(sorted(exact, form)).toEqual([exact, form])
      expect(sorted(form, exact)).toEqual([exact, form])
    }),
  )
})

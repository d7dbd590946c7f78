import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { findAll } from './find-all.ts'
import { type Form, formFinder } from './form.ts'

const forms: readonly Form[] = [
  { pattern: /(?<!a)[ab]{1,3}1[ab]?/g, sign: { pattern: /1/, within: 3 } },
  { pattern: /b{1,2}@(?=a)/g, sign: { pattern: /@/, within: 2 }, holds: (match) => match.length < 3 },
  { pattern: /[ab]?11/g, sign: { pattern: /1(?=1)/g, within: 1 } },
  { pattern: /[\p{L}]{1,2}@/gu, sign: { pattern: /@/, within: 4 } },
  { pattern: /1[ab@]{0,4}1/g, sign: { pattern: /1/, within: 0 } },
]
const texts = fc.string({ unit: fc.constantFrom('a', 'b', '1', '@', ' ', '𝐀', '😀'), maxLength: 40 })

test('around its signs a form is found as it is everywhere', () => {
  for (const form of forms) {
    const { sign: _, ...everywhere } = form
    fc.assert(
      fc.property(texts, (text) => {
        expect(findAll([formFinder(form)], text)).toEqual(findAll([formFinder(everywhere)], text))
      }),
      runs(1000),
    )
  }
})

test('a text full of signs takes no more than its length in time', () => {
  const find = formFinder({ pattern: /a{1,64}@b/g, sign: { pattern: /@/, within: 64 } })
  const began = performance.now()
  expect(findAll([find], 'a@'.repeat(100_000))).toEqual([])
  expect(performance.now() - began).toBeLessThan(4000)
})

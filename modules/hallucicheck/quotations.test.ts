import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { quotationsIn } from './quotations.ts'

const pattern = /"([^"\n]{8,2000})"|“([^”\n]{8,2000})”|„([^“”\n]{8,2000})[“”]|«([^»\n]{8,2000})»/g

test('quotations are what a pattern finds', () => {
  const text = fc.string({
    unit: fc.constantFrom('"', '“', '”', '„', '«', '»', '\n', 'a word ', 'abcdefgh'),
    maxLength: 60,
  })
  fc.assert(
    fc.property(text, (text) => {
      const found = Array.from(text.matchAll(pattern), ({ index, 0: all }) => ({
        start: index,
        end: index + all.length,
        said: all.slice(1, -1),
      }))
      expect([...quotationsIn(text)]).toEqual(found)
    }),
    runs(1000),
  )
})

test('one that is too long is none, and marks that nothing closes take about the time of their text', () => {
  expect([...quotationsIn(`"${'a'.repeat(2001)}"`)]).toEqual([])
  const took = (marks: number): number => {
    const began = performance.now()
    expect([...quotationsIn('“'.repeat(marks))]).toEqual([])
    return performance.now() - began
  }
  took(10_000)
  expect(took(1_000_000)).toBeLessThan(300 * took(10_000) + 2000)
})

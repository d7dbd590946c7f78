import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/suite/runs.ts'
import { compareLines } from './lines.ts'

const texts = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })

test('what is kept and taken out is the text before, what is kept and put in the one after, and no line is both', () => {
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const lines = compareLines(before, after)
      const without = (mark: string): string[] =>
        lines.filter((line) => line.mark !== mark).map(({ text }) => text)
      expect(without('+')).toEqual(before)
      expect(without('-')).toEqual(after)
    }),
    runs(200),
  )
})

test('what both have is kept', () => {
  const marks = compareLines(['a', 'b', 'c'], ['a', 'x', 'c', 'd']).map(({ mark, text }) => mark + text)
  expect(marks).toEqual([' a', '-b', '+x', ' c', '+d'])
})

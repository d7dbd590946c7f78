import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { isPattern, patternSize } from './pattern.ts'
import { stepsAtMost } from './pattern-steps.ts'

const atom = fc.constantFrom(
  'a',
  '.',
  '\\d',
  '\\pL',
  '\\p{Greek}',
  '[a-c]',
  '[^\\]a]',
  '[]b]',
  '[[:alpha:]-]',
  '\\Qa.(b\\E',
  '\\x{61}',
  '^',
  '\\b',
)
const again = fc.constantFrom('', '', '*', '+?', '?', '{3}', '{0}', '{2,}', '{1,9}', '{0,5}?')
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc
    .array(
      fc
        .tuple(
          fc.oneof(
            { maxDepth: 4 },
            atom,
            fc
              .tuple(fc.constantFrom('(', '(?:', '(?i:', '(?P<n>'), tie('pattern'))
              .map(([open, inner]) => `${open}${inner})`),
          ),
          again,
        )
        .map((parts) => parts.join('')),
      { maxLength: 4 },
    )
    .chain((parts) => fc.constantFrom('', '|').map((between) => parts.join(between))),
}))

test('no program has more steps than were expected', () => {
  let read = 0
  fc.assert(
    fc.property(pattern, (source) => {
      const steps = patternSize(source)
      if (steps === undefined) return
      read += 1
      expect(stepsAtMost(source)).toBeGreaterThanOrEqual(steps)
    }),
    runs(2000),
  )
  expect(read).toBeGreaterThan(100)
})

test('what repeats far too much is known without its program', () => {
  const long = 'a{1000}'.repeat(140)
  expect([isPattern(long), isPattern('a{1000}'.repeat(5))]).toEqual([false, true])
  // Its program has 140,002.
  expect(patternSize(long)).toBe(stepsAtMost(long))
  expect(patternSize('a{1000}')).toBe(1002)
})

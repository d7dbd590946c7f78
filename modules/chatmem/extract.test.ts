import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { extracted, linesOf } from './extract.ts'

const word = fc.constantFrom('tea', 'Lima', '1,200', 'the', 'rain', 'Grüße', '猫', 'a')
const line = fc
  .tuple(fc.constantFrom('user', 'assistant'), fc.array(word, { minLength: 1, maxLength: 12 }))
  .map(([who, words]) => `${who}: ${words.join(' ')}.`)

test('a summary has some of the lines, each once, in their order, and is never longer than it may be', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), fc.nat({ max: 600 }), (lines, most) => {
      const taken = extracted(lines, most)
      expect(taken.join('\n').length).toBeLessThanOrEqual(most)
      expect(new Set(taken).size).toBe(taken.length)
      const places = taken.map((one) => lines.lastIndexOf(one))
      expect(places).not.toContain(-1)
      expect(places).toEqual(places.toSorted((a, b) => a - b))
    }),
    runs(300),
  )
})

test('all lines are there while there is room', () => {
  const lines = ['user: I live in Lima.', 'assistant: Noted.']
  expect(extracted(lines, 100)).toEqual(lines)
})

test('facts stay before courtesy', () => {
  const lines = [
    'user: Hello there, how are you doing today?',
    'assistant: I am well, and you?',
    'user: My order 4711 from Oslo has not come.',
    'assistant: Thank you so much for telling me.',
  ]
  expect(extracted(lines, 60)).toEqual(['user: My order 4711 from Oslo has not come.'])
})

test('a turn becomes sentences with who said them, and a long one is cut', () => {
  expect(linesOf({ user: 'One. Two?\n\nThree', assistant: 'Four!' })).toEqual([
    'user: One.',
    'user: Two?',
    'user: Three',
    'assistant: Four!',
  ])
  for (const text of linesOf({ user: 'word '.repeat(900), assistant: 'x'.repeat(5000) }))
    expect(text.length).toBeLessThan(320)
})

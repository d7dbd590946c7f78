import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sentenceEnd } from './sentences.ts'

/** The sentences of a line that arrives in these parts. */
function sentences(...parts: readonly string[]): string[] {
  const found: string[] = []
  let rest = ''
  const take = (isWhole: boolean): void => {
    for (;;) {
      const end = rest === '' ? undefined : sentenceEnd(rest, isWhole)
      if (end === undefined) return
      found.push(rest.slice(0, end))
      rest = rest.slice(end)
    }
  }
  for (const part of parts) {
    rest += part
    take(false)
  }
  take(true)
  return found
}

test.each([
  [['It rains. ', 'Stay in! ', 'Why? ', 'Well… ', 'So.']],
  [['Ask Dr. Kern at 3.5 p.m. or later, e.g. on Monday. ', 'Then go.']],
  [['Am 3. Mai kam z. B. Frau Dr. Kern. ', 'Sie blieb.']],
  [['Run `npm i. Then` twice. ', 'Good.']],
  [['See [the page. Or not](https://example.com/a). ', 'Good.']],
  [['He said: "Stop!" ', 'We did.']],
  [['“Stop!” he said. ', 'We did.']],
  [['今日は晴れです。', '散歩しよう！', 'はい']],
  [['No. ', 'That is No. 5.']],
  [['**Bold words.** ', 'Plain.']],
])('%j are sentences', (expected) => {
  expect(sentences(expected.join(''))).toEqual(expected)
})

test('nothing is decided before it is known', () => {
  for (const open of [
    'It is 3.',
    'It rains. ',
    'Run `npm i. ',
    'See [this. ',
    'See [this](https://a.b ',
    'So',
  ])
    expect(sentenceEnd(open, false)).toBeUndefined()
  expect(sentenceEnd('It rains. S', false)).toBe(10)
})

test('a long sentence is cut at a space, and one without spaces between two characters', () => {
  const long = 'word '.repeat(500)
  expect(sentences(long).every((one) => one.length <= 1000 && one.endsWith(' '))).toBe(true)
  for (const one of sentences(`a${'😀'.repeat(900)}`)) expect(one.isWellFormed()).toBe(true)
})

test('sentences are the same however a line arrives', () => {
  const word = fc.constantFrom(
    'a',
    'It',
    '. ',
    '.',
    '!',
    '? ',
    '`',
    '[',
    '](',
    ')',
    '。',
    '"',
    '1',
    'z',
    ' ',
    '**',
    'w'.repeat(300),
  )
  fc.assert(
    fc.property(fc.array(fc.array(word, { maxLength: 6 }), { maxLength: 8 }), (parts) => {
      const texts = parts.map((words) => words.join(''))
      const whole = texts.join('')
      expect(sentences(...texts)).toEqual(sentences(whole))
      expect(sentences(...whole)).toEqual(sentences(whole))
      expect(sentences(whole).join('')).toBe(whole)
    }),
  )
})

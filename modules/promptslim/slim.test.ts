import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimateTokens } from '#kit'
import { runs } from '../../test/suite/runs.ts'
import { type Level, slimmed } from './slim.ts'

const slim = (text: string, level: Level = 1): string => slimmed(text, level, new Set())

const levels = fc.constantFrom<Level>(1, 2, 3)
const words = fc
  .array(
    fc.constantFrom('please', 'note', 'the', 'value  of', 'is    able to', '|', '{', '[1, 2]', '-', 'ö'),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(' '))
const code = fc.constantFrom(
  '```js\nplease(  1,    2 )\n\n\n\n{ "a":  1 }\n```',
  '~~~\n| a   |   b |\n\n\n  "please   note that"\n~~~',
  '    indented    = please   (x)',
)
const quotation = fc.constantFrom(
  '"please     note that"',
  '“in   order    to”',
  '`a      b`',
  '«could you    please»',
)

test('code and quotations stay byte for byte, in their order, on every level', () => {
  const part = fc.oneof(
    words.map((text) => ({ text, kept: '' })),
    code.map((text) => ({ text, kept: text })),
    quotation.map((kept) => ({ text: `Say   ${kept}   now,    please.`, kept })),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), levels, (parts, level) => {
      const short = slim(parts.map(({ text }) => text).join('\n\n\n'), level)
      let from = 0
      for (const { kept } of parts) {
        const at = short.indexOf(kept, from)
        expect(at).toBeGreaterThanOrEqual(from)
        from = at + kept.length
      }
    }),
    runs(500),
  )
})

test('a text never grows, and what is slim stays so', () => {
  const text = fc.array(fc.oneof(words, code, quotation), { maxLength: 8 }).map((parts) => parts.join('\n\n'))
  fc.assert(
    fc.property(text, fc.constantFrom<Level>(1, 2), (text, level) => {
      const short = slim(text, level)
      expect(short.length).toBeLessThanOrEqual(text.length)
      expect(slim(short, level)).toBe(short)
    }),
    runs(500),
  )
})

test('level 1 takes white space only, but for paragraphs that are said again', () => {
  const bare = (text: string): string => text.replace(/\s+/g, '')
  fc.assert(
    fc.property(fc.array(fc.oneof(words, code, quotation), { maxLength: 8 }), (parts) => {
      const short = parts.filter((part) => part.length < 60)
      expect(bare(slim(short.join('\n\n\n')))).toBe(bare(short.join('')))
    }),
    runs(300),
  )
})

const policy =
  'Refunds are paid within fourteen days, by the way that the customer has paid, and never in cash.'

describe('what goes', () => {
  test.each<[what: string, level: Level, text: string, slim: string]>([
    ['white space at ends, and empty lines', 1, 'One  \n\n\n\nTwo\t\n', 'One\n\nTwo'],
    ['a wide gap, down to two spaces', 1, 'Name:          Ada', 'Name:  Ada'],
    ['a paragraph that was said', 1, `${policy}\n\nWhat now?\n\n${policy}`, `${policy}\n\nWhat now?`],
    [
      'the layout of JSON',
      2,
      'Data:\n{\n  "a b": [1.0,  2],\n\n  "c": " x  y "\n}\nEnd',
      'Data:\n{"a b":[1.0,2],"c":" x  y "}\nEnd',
    ],
    [
      'the padding of a table',
      2,
      '| Name   | Age |\n|:-------|----:|\n| Ada    |  36 |',
      '|Name|Age|\n|:-|-:|\n|Ada|36|',
    ],
    ['a phrase, with its capital letter', 3, 'Please note that I would like you to sum up.', 'Sum up.'],
    ['a long phrase for a short one', 3, 'Wait due to the fact that it rains.', 'Wait because it rains.'],
  ])('%s', (_, level, text, expected) => {
    expect(slim(text, level)).toBe(expected)
  })

  test.each<[what: string, level: Level, text: string]>([
    ['short paragraphs said twice', 1, 'Yes.\n\nNo.\n\nYes.'],
    ['a list and its indentation', 1, '- one\n  - two\n- three'],
    ['two spaces', 1, 'a  b'],
    ['the layout of JSON on level 1', 1, '{\n  "a": 1\n}'],
    ['brackets that are no JSON', 2, '[see  below]\n{ not: json }'],
    ['a row with a quotation', 2, '|a|\n|-|\n| "x | y" |'],
    ['a quotation over several lines', 2, 'He said "one\n   two    three\nfour" and left'],
    ['please as a verb', 3, 'It is hard to please them.'],
    ['nothing but white space', 1, '  \n '],
  ])('and what stays: %s', (_, level, text) => {
    expect(slim(text, level)).toBe(text)
  })
})

test('texts of brackets and quotes without an end come back as they are', () => {
  // In time that grows with their square none of these would ever end.
  const [open, closed, quotes] = ['[\n', ',]\n', '"\n'].map((line) => line.repeat(500_000))
  for (const text of [`${open}x`, `${open}${closed}x`, `${quotes}x`])
    expect(slim(text, 2) === text).toBe(true)
})

const corpus = [
  `You are a helpful assistant for the support of a shop.   \n\n\n${policy}\n\n\nPlease note that you answer in English.\n\n${policy}\n`,
  `Could you please tell me, in order to help my team, which of these orders is late?\n\n| Order    | Due          | Sent         |\n|----------|--------------|--------------|\n| 1001     | 2026-03-01   | 2026-03-04   |\n| 1002     | 2026-03-02   | 2026-03-02   |\n`,
  `I would like you to find the fault:\n\n{\n    "name": "Ada",\n    "orders": [\n        { "id": 1, "late": true },\n        { "id": 2, "late": false }\n    ]\n}\n\nThank you in advance!`,
]

test('tokens fall on a corpus, and further with each level', () => {
  const tokens = (level?: Level): number =>
    estimateTokens(corpus.map((text) => (level === undefined ? text : slim(text, level))))
  const [none, one, two, three] = [tokens(), tokens(1), tokens(2), tokens(3)]
  expect(one).toBeLessThan(none * 0.95)
  expect(two).toBeLessThan(one * 0.95)
  expect(three).toBeLessThan(two * 0.95)
})

test.each(['“', '„', '«'])(
  'a line full of marks that nothing closes takes no square of its time: %s',
  (mark) => {
    const took = (marks: number): number => {
      const began = performance.now()
      expect(slim(`${`${mark}  x`.repeat(marks - 1)}${mark} y    z`).endsWith(`${mark} y  z`)).toBe(true)
      return performance.now() - began
    }
    took(4000)
    expect(took(80_000)).toBeLessThan(60 * took(4000) + 500)
  },
)

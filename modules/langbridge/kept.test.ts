import fc from 'fast-check'
import { expect, test } from 'vitest'
import { marked, putBack } from './kept.ts'
import { Passages } from './passages.ts'

const inMarks = (text: string) => marked(new Passages().end(text))

test.each([
  'const x = `a b`',
  'https://example.com/a?b=c',
  'www.example.com/a',
  'ada@example.com',
  '{{ user name }}',
  '{name}',
  '$' + '{name}',
  '%s',
  '%(count)d',
  '%1$s',
  '<b>',
  '</user-name>',
  '[EMAIL_7KQ4X2]',
  '[REDACTED:email]',
  '⟦1⟧',
  '$$a + b$$',
])('%s is not shown to the translator', (piece) => {
  const { text, pieces } = inMarks(`Nimm ${piece} von hier.`)
  expect(text).toMatch(/^Nimm (?:const x = )?⟦1⟧ von hier\.$/)
  expect(putBack(text, pieces)).toBe(`Nimm ${piece} von hier.`)
})

test.each(['50 % der Leute', '100% sicher', 'a < b und c > d', '[ja]', '{ a b }', 'Er sagt: ja'])(
  '%s is language',
  (text) => expect(inMarks(text)).toEqual({ text, pieces: [] }),
)

test('what stands at the end of a sentence is not part of an address', () => {
  expect(inMarks('Lies (https://example.com/a). Schreib an a@b.de.').text).toBe('Lies (⟦1⟧). Schreib an ⟦2⟧.')
})

test('fenced code is a mark for each line, whatever is in it', () => {
  const text = 'Nimm das:\n```js\nconst a = "Das ist gut."\n\n// ⟦1⟧\n```\nDas war es.'
  const { text: shown, pieces } = inMarks(text)
  expect(shown).toBe('Nimm das:\n⟦1⟧\n⟦2⟧\n\n⟦3⟧\n⟦4⟧\nDas war es.')
  expect(putBack(shown, pieces)).toBe(text)
})

test('a translation may move marks, and may not lose, repeat or invent one', () => {
  const pieces = ['`a`', '`b`']
  expect(putBack('⟦2⟧ before ⟦1⟧', pieces)).toBe('`b` before `a`')
  for (const wrong of ['⟦1⟧', '⟦1⟧ ⟦1⟧', '⟦1⟧ ⟦2⟧ ⟦2⟧', '⟦1⟧ ⟦2⟧ ⟦3⟧', '⟦1⟧ ⟦2⟧ ⟧', '[1] [2]'])
    expect(putBack(wrong, pieces)).toBeUndefined()
})

const word = fc.constantFrom(
  'Satz. ',
  'ok',
  ' ',
  '\n',
  '```',
  '~~~',
  '`',
  '⟦1⟧',
  '⟦',
  '{a}',
  '%s',
  '<a>',
  '- ',
  '. ',
  'https://a.b/c',
  '1. ',
)
const texts = fc.array(
  fc.array(word, { maxLength: 5 }).map((words) => words.join('')),
  { maxLength: 8 },
)

test('a translator that changes nothing changes nothing', () => {
  fc.assert(
    fc.property(texts, (parts) => {
      const { text, pieces } = inMarks(parts.join(''))
      expect(putBack(text, pieces)).toBe(parts.join(''))
    }),
  )
})

test('passages are the same however a text is cut', () => {
  fc.assert(
    fc.property(texts, (parts) => {
      const whole = new Passages().end(parts.join(''))
      const passages = new Passages()
      expect([...parts.flatMap((part) => passages.push(part)), ...passages.end('')]).toEqual(whole)
      const letters = new Passages()
      expect([...parts.join('')].flatMap((one) => letters.push(one)).concat(letters.end(''))).toEqual(whole)
    }),
  )
})

test('long texts without an end are looked through in time that grows with their length', () => {
  for (const piece of ['`', '[', '{', '<a', 'a.', '⟦', '$$', '%(', 'a@', 'https://', '```\n']) {
    const text = piece.repeat(20_000 / piece.length)
    const { text: shown, pieces } = inMarks(text)
    expect(putBack(shown, pieces)).toBe(text)
  }
})

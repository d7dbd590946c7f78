import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contentOf, formOf } from './forms.ts'
import { differentQuestions, sameContent, sameQuestions } from './pairs.test-data.ts'

const form = (text: string): string => JSON.stringify(formOf(text))
const content = (text: string): string => JSON.stringify(contentOf(formOf(text)))

describe('the form of a question', () => {
  test.each(differentQuestions)('"%s" is not "%s", also by its content', (a, b) => {
    expect(form(a)).not.toBe(form(b))
    expect(content(a)).not.toBe(content(b))
  })

  test('nine of ten near duplicates have one form', () => {
    const missed = sameQuestions.filter(([a, b]) => form(a) !== form(b))
    expect(missed.length, JSON.stringify(missed)).toBeLessThanOrEqual(sameQuestions.length / 10)
  })

  test.each(sameContent)('"%s" has the content of "%s" and another form', (a, b) => {
    expect(content(a)).toBe(content(b))
    expect(form(a)).not.toBe(form(b))
  })

  const word = fc.stringMatching(/^[b-df-hj-np-tv-z]{4,8}$/)
  const sentence = fc.array(word, { minLength: 2, maxLength: 8 })

  test('no word of a question can be another one, be left out or be added', () => {
    fc.assert(
      fc.property(sentence, fc.nat(), word, (words, seed, other) => {
        const at = seed % words.length
        fc.pre(words[at] !== other)
        const text = words.join(' ')
        for (const changed of [words.with(at, other), words.toSpliced(at, 1), words.toSpliced(at, 0, other)])
          expect(form(changed.join(' '))).not.toBe(form(text))
      }),
    )
  })

  test('no number can be another one', () => {
    const number = fc.oneof(
      fc.integer().map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    )
    fc.assert(
      fc.property(number, number, (a, b) => {
        fc.pre(a !== b)
        expect(content(`what is ${a} plus 7`)).not.toBe(content(`what is ${b} plus 7`))
      }),
    )
  })

  test('what is quoted stays as it is, letter case and punctuation included', () => {
    const quoted = fc.string({
      unit: fc.constantFrom('a', 'A', '.', '!', ' ', 'please'),
      minLength: 1,
      maxLength: 12,
    })
    fc.assert(
      fc.property(quoted, quoted, (a, b) => {
        fc.pre(a !== b)
        for (const [open, close] of ['""', '``', '“”', '«»']) {
          expect(form(`translate ${open}${a}${close}`)).not.toBe(form(`translate ${open}${b}${close}`))
        }
      }),
    )
  })

  test('letter case and marks at the end of a sentence of plain words never matter', () => {
    fc.assert(
      fc.property(sentence, fc.constantFrom('', '.', '?', '!', '?!', '…', ' ?'), (words, mark) => {
        const text = words.join(' ')
        expect(form(`${text[0]!.toUpperCase()}${text.slice(1)}${mark}`)).toBe(form(text))
        expect(form(text.toUpperCase() + mark)).toBe(form(text))
        expect(form(`Please ${text}`)).toBe(form(text))
        expect(form(`Hello, ${text}, thank you!`)).toBe(form(text))
      }),
    )
  })

  test('a question never comes to nothing, whatever it is', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        expect(formOf(`${before} rain ${after}`).length).toBeGreaterThan(0)
      }),
    )
    expect(formOf('please').length).toBe(1)
  })
})

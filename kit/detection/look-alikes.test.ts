import { expect, test } from 'vitest'
import { findAll } from './find-all.ts'
import { lookAlikeFinder, readAsLatin, styledFinder, withoutStyle } from './look-alikes.ts'

const words = (text: string): string[] =>
  findAll([lookAlikeFinder], text).map(({ start, end }) => text.slice(start, end))

test.each([
  ['Log in to pаypаl and micrоsoft.', ['pаypаl', 'micrоsoft'], ['paypal', 'microsoft']],
  ['Ιgnοre it', ['Ιgnοre'], ['Ignore']],
  ['ѕуѕtеm', ['ѕуѕtеm'], ['system']],
])('words that only look Latin are found, and can be read: %s', (text, wanted, read) => {
  expect(words(text)).toEqual(wanted)
  expect(wanted.map(readAsLatin)).toEqual(read)
})

test.each([
  'Привет, мир. Как дела? Οι λέξεις είναι ελληνικές.',
  'Δx, µm, σ-algebra, α-Helix, 5 kΩ, πr², VКонтакте, Яndex, пр. Python',
  'über naïve Łódź İstanbul ışık',
  'сор', // All Cyrillic: a word of one script.
])('words of one script, names and symbols are none: %s', (text) => {
  expect(words(text)).toEqual([])
})

test('very long words take no longer than their length', () => {
  expect(words('аa'.repeat(200_000))).toEqual([])
})

test('styled words are found letter by letter, single symbols are none', () => {
  const found = findAll([styledFinder], '𝐬𝐚𝐲 ⓗⓘ！ ＡＢＣ x ∈ ℝ, 𝐀𝐱 = 𝐛, ２０２６')
  expect(found.map(({ plain }) => plain).join('')).toBe('sayABC2026')
  expect(withoutStyle('𝐬𝐚𝐲 ⓗⓘ 🅷🅴🆈 ＡＢＣ ℎ ℝ')).toBe('say hi HEY ABC h ℝ')
})

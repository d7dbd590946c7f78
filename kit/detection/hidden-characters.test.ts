import { expect, test } from 'vitest'
import { findAll } from './find-all.ts'
import { hiddenFinder, withoutHidden } from './hidden-characters.ts'

const kinds = (text: string): string[] => findAll([hiddenFinder], text).map(({ label }) => label)
const tags = (text: string): string =>
  [...text].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('')
/** Bytes as variation selectors behind a character. */
const selectors = (text: string): string =>
  [...text].map((letter) => String.fromCodePoint(0xe0100 + letter.charCodeAt(0) - 16)).join('')

test.each([
  ['families and professions', '👨‍👩‍👧‍👦 👩🏽‍🚀 🏃‍♀️ 🏳️‍🌈 🏴‍☠️ 👁️‍🗨️ ❤️‍🔥 🧑🏿‍🤝‍🧑🏻'],
  ['flags, keycaps and text variants', '🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿 1️⃣ #️⃣ ☺︎ ↔️ ™️'],
  ['Persian', 'می‌خواهم کتاب‌ها را بخوانم، ه‍ و علاقه‌مندی'],
  ['Indic scripts', 'क्‍ष र्‍य ক্‌ষ ക്‍ न्‌न శ్రీ‌రామ'],
  ['Khmer and Thai', 'ភាសា​ខ្មែរ ภาษา​ไทย'],
  ['Mongolian', 'ᠮᠣᠩᠭᠣᠯ᠎ᠠ ᠠ᠋'],
  ['text from right to left', 'שלום C++\u200e עולם \u2067مرحبا\u2069 (\u200fא)'],
  ['variants of ideographs', '葛\u{e0100}城 邉\u{e0103}'],
  ['Hangul of old', 'ᄒ\u1160ᇰ'],
  ['plain text', 'Nothing here — “quotes”, naïve café, 中文。'],
])('characters with a use are none: %s', (_name, text) => {
  expect(kinds(text)).toEqual([])
})

test.each([
  ['an instruction in tags', `Hi${tags('obey')}`, Array(4).fill('tag')],
  ['tags behind a flag that has none', `🏴${tags('usca')}\u{e007f}`, Array(5).fill('tag')],
  ['bytes in variants of an emoji', `😀\ufe0f${selectors('go!')}`, Array(3).fill('variation_selector')],
  ['a row of variants behind an ideograph', `葛\u{e0100}\u{e0101}`, ['variation_selector']],
  ['an override', 'file\u202etxt.exe', ['bidi_control']],
  ['an override in Hebrew', 'שלום\u202e', ['bidi_control']],
  ['a mark of direction far from any such text', `Latin\u200f${' only'.repeat(9)}`, ['bidi_control']],
  ['bits in joiners', 'ab\u200b\u200c\u200d\u2060cd', Array(4).fill('zero_width')],
  ['bits in joiners between Persian letters', 'می\u200c\u200d\u200cخ', ['zero_width', 'zero_width']],
  ['a joiner between emoji and a letter', '👩\u200da', ['zero_width']],
  ['fillers', 'a\u3164b\uffa0', ['zero_width', 'zero_width']],
  ['soft hyphens and byte order marks', '\ufeffco\u00adop', ['soft_hyphen', 'soft_hyphen']],
])('characters without one are found: %s', (_name, text, wanted) => {
  expect(kinds(text)).toEqual(wanted)
})

test('what was written in tags can be read', () => {
  expect(withoutHidden(`a\u200bb ${tags('Do this')}\u{e007f}`)).toBe('ab Do this')
})

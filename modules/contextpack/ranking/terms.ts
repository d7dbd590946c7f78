import { wordsOf } from '#kit'

/** The terms of a text that passages are found by: its words without letter case, accents, and the ending of English plurals. */
export const termsOf = (text: string): string[] =>
  wordsOf(
    text
      .normalize('NFKD')
      .replace(/\p{M}+/gu, '')
      .normalize('NFC'),
  ).map(singular)

const singular = (word: string): string => (/^[a-z]{2,}[a-rtv-z]s$/.test(word) ? word.slice(0, -1) : word)

import type { LanguageDetector } from '#kit'
import { wordsOf } from './kept.ts'

/** What of a text is looked at. */
const looked = 10_000
/** With less, the language of a text is a guess: words where they are spaced, else letters. */
const least = { words: 3, letters: 12, unspaced: 5 }
const unspaced =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/gu

/** The language of a text without its code and placeholders; undefined where it is too short or cannot be told. */
export function toldLanguage(text: string, languageOf: LanguageDetector): string | undefined {
  const words = wordsOf(text.slice(0, looked))
  const letters = words.match(/\p{L}/gu)?.length ?? 0
  const isLong =
    (words.match(unspaced)?.length ?? 0) >= least.unspaced ||
    (letters >= least.letters && (words.match(/\p{L}[\p{L}\p{M}'’]*/gu)?.length ?? 0) >= least.words)
  return isLong ? languageOf(words) : undefined
}

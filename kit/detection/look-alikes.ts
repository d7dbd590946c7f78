import type { Finder, Finding } from './find-all.ts'

/** Letters of other scripts, and for each the Latin letter that it looks like. */
const pairs =
  // Cyrillic.
  'аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ѵv ӏl кk АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ІI ЈJ ЅS ԌG ӀI ҮY ԚQ ԜW ' +
  // Greek.
  'αa οo νv ρp ιi κk υu τt χx γy ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ϲc ϳj ' +
  // Armenian and Cherokee.
  'օo սu հh ոn ցg զq ᎠD ᎡR ᎢT ᎪA ᎫJ ᎬE ᎳW ᎷM ᎻH ᏀG ᏃZ ᏚS ᏞL ᏟC ᏢP ᏦK ᏴB'

const latinOf: ReadonlyMap<string, string> = new Map(
  pairs.split(' ').map((pair) => [pair.slice(0, 1), pair.slice(1)]),
)
const alike = `[${[...latinOf.keys()].join('')}]`

/** A longer word is no word. */
const longest = 64
/** How far finders of this file look around what they find. */
export const lookAlikeReach = 2 * longest

/** The word as it reads, in Latin letters; unchanged where one of its letters looks like none of these. */
export const readAsLatin = (word: string): string =>
  onlyAlike.test(word) ? word.replace(anyAlike, (letter) => latinOf.get(letter)!) : word

/** With `lastIndex` set before each use. */
const anyAlike = new RegExp(alike, 'g')
const onlyAlike = new RegExp(`^(?:\\p{sc=Latn}|\\p{M}|${alike})+$`, 'u')

/**
 * The first word that mixes Latin letters with letters of other scripts that look like Latin ones, so that it reads as another
 * word than it is. Words of one script, symbols such as `Δx` and names such as `Яndex` are none.
 */
export const lookAlikeFinder: Finder<Finding> = (text, from) => {
  anyAlike.lastIndex = from
  for (let match = anyAlike.exec(text); match; match = anyAlike.exec(text)) {
    const start = wordStart(text, match.index)
    const end = wordEnd(text, match.index)
    anyAlike.lastIndex = end
    if (start >= from && isDeceptive(text.slice(start, end))) return { start, end }
  }
  return undefined
}

const isDeceptive = (word: string): boolean =>
  word.length > 2 && word.length <= longest && /[a-z]/i.test(word) && onlyAlike.test(word)

const isLetter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{M}]/u.test(character)

function wordStart(text: string, at: number): number {
  let start = at
  while (at - start <= longest && isLetter(text[start - 1])) start -= 1
  return start
}

function wordEnd(text: string, at: number): number {
  let end = at + 1
  while (end - at <= longest && isLetter(text[end])) end += 1
  return end
}

/** Letters and digits that only a style tells from plain ones: of mathematics, in circles, in squares, at full width. */
const styled =
  '(?:[\\u{1d400}-\\u{1d7ff}\\u{1f130}-\\u{1f149}\\u{1f150}-\\u{1f169}\\u{1f170}-\\u{1f189}\\u24b6-\\u24e9\\uff10-\\uff19\\uff21-\\uff3a\\uff41-\\uff5a\\u210e\\u212c\\u2130\\u2131\\u210b\\u2110\\u2112\\u2133\\u211b])'

/** The first styled letter of three or more in a row; a single one is a symbol and means what it says. */
export const styledFinder: Finder<Finding & { readonly plain: string }> = (text, from) => {
  inStyledWord.lastIndex = from
  const match = inStyledWord.exec(text)
  return match ? { start: match.index, end: inStyledWord.lastIndex, plain: plainOf(match[0]) } : undefined
}

/** With `lastIndex` set before each use. */
const inStyledWord = new RegExp(
  `(?<=${styled}{2})${styled}|(?<=${styled})${styled}(?=${styled})|${styled}(?=${styled}{2})`,
  'gu',
)

/** A text with plain letters in place of styled ones. */
export const withoutStyle = (text: string): string => text.replace(new RegExp(styled, 'gu'), plainOf)

function plainOf(letter: string): string {
  const code = letter.codePointAt(0)!
  // Unicode gives letters in black circles and squares no plain form.
  for (const first of [0x1f150, 0x1f170])
    if (code >= first && code < first + 26) return String.fromCharCode(65 + code - first)
  return letter.normalize('NFKC').replace(/^\((.)\)$/, '$1')
}

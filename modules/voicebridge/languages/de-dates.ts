import { toCardinal, toOrdinal } from 'n2words/de-DE'
import type { Words } from './words.ts'

const months = 'Januar Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' ')
/** Words before a day. */
const before = '[Aa]m|[Vv]om|[Zz]um|[Bb]eim|[Dd]er|[Dd]em|[Dd]en|[Dd]es|[Aa]b|[Bb]is'
const dayAndMonth = new RegExp(`(\\b(?:${before}) )?\\b(\\d{1,2})\\. (${months.join('|')})\\b`, 'g')

/** A year: from 1100 to 1999 by its hundreds. */
export function year(value: number): string {
  if (value < 1100 || value > 1999) return toCardinal(value)
  const rest = value % 100
  return `${toCardinal(Math.floor(value / 100))}hundert${rest === 0 ? '' : toCardinal(rest)}`
}

/** A whole date that stands alone. */
export const date = (of: number, month: number, day: number): string =>
  `${toOrdinal(day)}r ${months[month - 1]} ${year(of)}`

/** Days of a month, whose ending goes by the word before. */
export const spokenDays: Words['abbreviations'] = [
  [/\b([Vv]om) ([1-9]|[12]\d|3[01])\.(?= bis )/g, (_, vom, digits) => `${vom} ${toOrdinal(Number(digits))}n`],
  [dayAndMonth, (_, before, digits, month) => dayOf(before ?? '', digits!, month!)],
]

/** `am dritten Mai`, `der dritte Mai`, `dritter Mai`. */
function dayOf(before: string, digits: string, month: string): string {
  if (Number(digits) < 1 || Number(digits) > 31) return `${before}${digits}. ${month}`
  const ending = before === '' ? 'r' : /^der/i.test(before) ? '' : 'n'
  return `${before}${toOrdinal(Number(digits))}${ending} ${month}`
}

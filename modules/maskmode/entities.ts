import { isIPv4, isIPv6 } from 'node:net'
import type { Finder, Finding } from '#kit'

export const entityTypes = [
  'email',
  'iban',
  'card',
  'ssn',
  'ip',
  'phone',
  'birth_date',
  'address',
  'name',
] as const

export type EntityType = (typeof entityTypes)[number]

export interface Entity extends Finding {
  readonly type: string
}

interface Form {
  readonly type: EntityType
  /** Bounded, without nested repetition. */
  readonly pattern: RegExp
  readonly group?: number
  readonly holds?: (text: string) => boolean
}

const month =
  'Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?'
const date = `\\d{1,4}[./-]\\d{1,2}[./-]\\d{1,4}|(?:${month}) \\d{1,2},? \\d{4}|\\d{1,2}\\.? (?:${month}),? \\d{4}`
const street =
  'Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Square|Place|Pl|Terrace'
const given = "\\p{Lu}[\\p{L}'’-]{1,20}"

const forms: readonly Form[] = [
  {
    type: 'email',
    pattern:
      /(?<![\w.%+-])[\w.%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,24}(?![\w@])/g,
  },
  { type: 'iban', pattern: /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g, holds: isIban },
  { type: 'card', pattern: /(?<![\w.-]|\d[ -])\d(?:[ -]?\d){12,18}(?![\d-])/g, holds: isCard },
  { type: 'ssn', pattern: /(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g },
  { type: 'ip', pattern: /(?<![\w.:])\d{1,3}(?:\.\d{1,3}){3}(?![\w:]|\.\d)/g, holds: isIPv4 },
  { type: 'ip', pattern: /(?<![\w.:])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])/g, holds: isIPv6 },
  {
    type: 'phone',
    pattern:
      /(?<![\w.+-]|\d[ .-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,4}\)[ .-]?)?\d{2,4}(?:[ .-]?\d{2,4}){1,4}(?![\w-])/g,
    holds: isPhone,
  },
  {
    type: 'birth_date',
    pattern: new RegExp(
      `\\b(?:born(?: on)?|date of birth|dob|birthday)(?: is)?[:\\s]{1,3}(${date})(?!\\d)`,
      'gi',
    ),
    group: 1,
  },
  {
    type: 'address',
    pattern: new RegExp(`(?<![\\w-])\\d{1,5}[a-z]? (?:${given} ){1,3}(?:${street})\\b\\.?`, 'gu'),
  },
  {
    type: 'address',
    pattern: /(?<!\p{L})\p{Lu}[\p{L}-]{2,30}(?:straße|strasse|weg|platz|allee|gasse) \d{1,4}[a-z]?\b/gu,
  },
  {
    type: 'name',
    pattern: new RegExp(
      `\\b(?:[Mm]y name is|I am called|[Ss]igned by|Dear|Regards,|Sincerely,|Mr\\.?|Mrs\\.?|Ms\\.?|Dr\\.?)\\s(${given}(?: ${given}){0,2})`,
      'gu',
    ),
    group: 1,
  },
]

/** Longest finding with what it looks at around itself, in characters. */
export const reach = 420

/** What looks for these kinds of personal data. */
export function findersOf(types: readonly EntityType[]): Finder<Entity>[] {
  return forms.filter(({ type }) => types.includes(type)).map(finderOf)
}

function finderOf({ type, pattern, group = 0, holds }: Form): Finder<Entity> {
  const sought = new RegExp(pattern.source, `${pattern.flags}d`)
  return (text, from) => {
    sought.lastIndex = from
    for (let match = sought.exec(text); match; match = sought.exec(text)) {
      const [start, end] = match.indices![group]!
      if (!holds || holds(match[group]!)) return { start, end, type }
      sought.lastIndex = match.index + 1
    }
    return undefined
  }
}

/** Luhn's check digit, ISO/IEC 7812. */
function isCard(text: string): boolean {
  const digits = [...text.replace(/\D/g, '')].reverse().map(Number)
  const sum = digits.reduce(
    (total, digit, n) => total + (n % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2),
    0,
  )
  return sum % 10 === 0 && new Set(digits).size > 1
}

/** The check digits of ISO 13616: the number, letters as 10 to 35 and head moved to the end, is 1 modulo 97. */
function isIban(text: string): boolean {
  const plain = text.replaceAll(' ', '')
  if (plain.length < 15 || plain.length > 34) return false
  let rest = 0
  for (const character of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

/** Enough digits, and written as people write numbers that are called: not as a date, nor as a bare quantity. */
function isPhone(text: string): boolean {
  const digits = text.replace(/\D/g, '').length
  if (digits < 8 || digits > 15 || /^\d{4}[.-]\d{2}[.-]\d{2}$/.test(text)) return false
  return text.startsWith('+') || (digits >= 9 && /[ ().-]/.test(text))
}

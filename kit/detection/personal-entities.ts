import { isIPv4, isIPv6 } from 'node:net'
import { isCard, isIban, isLuhn } from './check-digits.ts'
import { type Finder, type Finding, findAll } from './find-all.ts'
import { type Form, formFinder } from './form.ts'
import { isCpf, isDni, isNir, isPhone, isResidentNumber } from './personal-numbers.ts'
import { tagged } from './text-guard.ts'

export const personalTypes = [
  'email',
  'iban',
  'card',
  'national_id',
  'ip',
  'phone',
  'birth_date',
  'address',
  'name',
] as const

export type PersonalType = (typeof personalTypes)[number]

export interface PersonalFinding extends Finding {
  readonly type: string
}

export interface PersonalForm extends Form {
  readonly type: PersonalType
}

const month =
  'Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?'
const date = `(?:\\d{1,4}[./-]\\d{1,2}[./-]\\d{1,4}|(?:${month}) \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}|\\d{1,2}(?:st|nd|rd|th)?\\.? (?:${month}),? \\d{4})(?!\\d)`
const street =
  'Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Square|Place|Pl|Terrace|Highway|Parkway'
const given = "\\p{Lu}[\\p{L}'’-]{1,20}"
const particle = '(?:(?:de|da|di|del|van|von|der|den|bin|al|el|la|le) ){0,2}'
const title = '(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|Monsieur|Madame|Señora?)\\.? '

/** One kind may have several forms; of two that begin together, the earlier one here counts. */
const forms: readonly PersonalForm[] = [
  {
    type: 'email',
    pattern: /(?<![\w.%+-])[\p{L}\d_.%+-]{1,64}@(?:[\p{L}\d-]{1,40}\.){1,4}\p{L}{2,24}(?![\p{L}\d_@])/gu,
    sign: { pattern: /@/, within: 128 },
  },
  { type: 'iban', pattern: /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g, holds: isIban },
  { type: 'card', pattern: /(?<![\w.-]|\d[ -])\d(?:[ -]?\d){12,18}(?![\d-])/g, holds: isCard },
  { type: 'national_id', pattern: /(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])/g },
  {
    type: 'national_id',
    after: /\b(?:SSN|social security number|tax id|TIN)(?: is|:| #)? ?/gi,
    pattern: /(?!000|666)\d{3}[ -]?(?!00)\d\d[ -]?(?!0000)\d{4}(?!\d)/y,
  },
  {
    type: 'national_id',
    pattern: /(?<!\w)(?:\d{8}|[XYZ]-?\d{7})[ -]?[A-HJ-NP-TV-Z](?!\w)/g,
    sign: { pattern: /\d{7}/, within: 2 },
    holds: isDni,
  },
  { type: 'national_id', pattern: /(?<![\d.])\d{3}\.\d{3}\.\d{3}-\d\d(?!\d)/g, holds: isCpf },
  {
    type: 'national_id',
    pattern: /(?<!\d)[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?(?:\d\d|2[AB]) ?\d{3} ?\d{3} ?\d\d(?!\d)/g,
    holds: isNir,
  },
  { type: 'national_id', pattern: /(?<!\w)[1-8]\d{5}(?:19|20)\d{9}[\dX](?!\w)/gi, holds: isResidentNumber },
  { type: 'national_id', pattern: /(?<![\d-])\d{6}[-+]\d{4}(?![\d-])/g, holds: isLuhn },
  {
    type: 'national_id',
    pattern: /\b(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]\b/g,
  },
  { type: 'ip', pattern: /(?<![\w.:])\d{1,3}(?:\.\d{1,3}){3}(?![\w:]|\.\d)/g, holds: isIPv4 },
  {
    type: 'ip',
    pattern: /(?<![\w.:])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])/g,
    sign: { pattern: /:(?=[0-9A-Fa-f]{0,4}:)/, within: 4 },
    holds: isIp6,
  },
  {
    type: 'birth_date',
    after: /\b(?:born(?: on)?|(?:date of )?birth(?:day|date)?|dob)(?: is| was|:|,)?\s{1,2}/gi,
    pattern: new RegExp(date, 'y'),
  },
  {
    type: 'address',
    pattern: new RegExp(`(?<![\\w-])\\d{1,5}[a-z]? (?:${given} ){1,3}(?:${street})\\b\\.?`, 'gu'),
    sign: { pattern: /\d[a-z]? [A-Z\u0080-\uffff]/, within: 4 },
  },
  {
    type: 'address',
    pattern: /(?<!\p{L})\p{Lu}[\p{L}-]{2,30}(?:straße|strasse|weg|platz|allee|gasse) \d{1,4}[a-z]?\b/gu,
    sign: { pattern: /\d(?<=(?:straße|strasse|weg|platz|allee|gasse) \d)/, within: 70 },
  },
  { type: 'address', pattern: /\bP\.?O\.? Box \d{1,6}\b/gi },
  {
    type: 'name',
    pattern: new RegExp(`(?<!\\p{L})${title}${particle}${given}(?: ${particle}${given}){0,2}`, 'gu'),
    sign: { pattern: new RegExp(title), within: 0 },
  },
  {
    type: 'name',
    after:
      /\b(?:[Mm]y name is|[Nn]ame: ?|I am called|[Tt]his is|[Ss]igned by|[Ss]igned,|Dear|[Rr]egards,|[Ss]incerely,|[Cc]heers,|Yours,)\s{1,2}/g,
    pattern: new RegExp(
      `(?!${title}|(?:The|A|An|All|Sir|Madam|Team|My|Your|Our|It|Not)(?!\\p{L}))${given}(?: ${particle}${given}){0,2}`,
      'uy',
    ),
  },
]

/** Longest finding with what it looks ahead for, in characters: an email address. */
export const personalReach = 280

/** The finders for these kinds of personal data. */
export const personalFinders = (
  types: readonly PersonalType[],
  countries: readonly string[],
): Finder<PersonalFinding>[] => formsOf(types, countries).map(personalFinder)

/** How these kinds of personal data are written; phone numbers without a country code, in these countries. */
export function formsOf(types: readonly PersonalType[], countries: readonly string[]): PersonalForm[] {
  const phone: PersonalForm = {
    type: 'phone',
    // Brackets stand around one group at the most, the first or the second.
    pattern:
      /(?<![\w.+/-]|\d[ .])(?:\+|00)?(?:\d{1,4}[ ./-]{0,2})?(?:\(\d{1,4}\)[ ./-]{0,2})?\d{1,4}(?:[ ./-]{0,2}\d{1,4}){1,5}(?![\w-]|[.,]\d)/g,
    sign: { pattern: /\d(?:[ ./()-]{0,4}\d){6}/, within: 2 },
    holds: (text) => text.replace(/\D/g, '').length > 6 && isPhone(text.replace(/^00/, '+'), countries),
  }
  return [...forms, phone].filter(({ type }) => types.includes(type))
}

/** The finder for one form. */
export const personalFinder = ({ type, ...form }: PersonalForm): Finder<PersonalFinding> =>
  tagged(formFinder(form), { type })

/** An address with something in it: `::` alone is punctuation. */
function isIp6(text: string): boolean {
  return isIPv6(text) && /[\da-f]{2}/i.test(text)
}

/** Gives a function that replaces personal data in a text by marks, for what leaves calls after the guards. */
export function personalRedactor(countries: readonly string[]): (text: string) => string {
  const finders = personalFinders(personalTypes, countries)
  return (text) => {
    let redacted = ''
    let from = 0
    for (const { start, end, type } of findAll(finders, text)) {
      redacted += `${text.slice(from, start)}[REDACTED:${type}]`
      from = end
    }
    return redacted + text.slice(from)
  }
}

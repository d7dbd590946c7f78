export interface WrittenDate {
  readonly start: number
  readonly end: number
  /** The days that it may mean, as `2026-03-01`. */
  readonly days: readonly string[]
}

const monthNames = [
  'jan january januar jänner',
  'feb february februar',
  'mar march märz mrz',
  'apr april',
  'may mai',
  'jun june juni',
  'jul july juli',
  'aug august',
  'sep sept september',
  'oct october okt oktober',
  'nov november',
  'dec december dez dezember',
].map((names) => names.split(' '))
const monthOf = new Map(monthNames.flatMap((names, at) => names.map((name) => [name, at + 1] as const)))
const month = `(${[...monthOf.keys()].sort((a, b) => b.length - a.length).join('|')})\\.?`

const forms: readonly [
  RegExp,
  (parts: readonly string[]) => (readonly [year: number, month: number, day: number])[],
][] = [
  [/\b(\d{4})-(\d{2})-(\d{2})\b/g, ([y, m, d]) => [[Number(y), Number(m), Number(d)]]],
  [
    /\b(\d{1,2})[./](\d{1,2})[./](\d{4})\b/g,
    ([a, b, y]) => [
      [Number(y), Number(b), Number(a)],
      [Number(y), Number(a), Number(b)],
    ],
  ],
  [
    new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th|\\.)? (?:of )?${month},? (\\d{4})\\b`, 'gi'),
    ([d, m, y]) => [[Number(y), monthOf.get(m!.toLowerCase())!, Number(d)]],
  ],
  [
    new RegExp(`\\b${month} (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})\\b`, 'gi'),
    ([m, d, y]) => [[Number(y), monthOf.get(m!.toLowerCase())!, Number(d)]],
  ],
]

/** The days that a text names, in whichever of the usual ways; months in English and German. */
export function datesIn(text: string): WrittenDate[] {
  return forms.flatMap(([form, daysOf]) =>
    [...text.matchAll(form)].flatMap((match) => {
      const days = daysOf(match.slice(1)).filter(isDay).map(written)
      return days.length === 0 ? [] : [{ start: match.index, end: match.index + match[0].length, days }]
    }),
  )
}

const isDay = ([, month, day]: readonly [number, number, number]): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= 31

const written = ([year, month, day]: readonly [number, number, number]): string =>
  [year, String(month).padStart(2, '0'), String(day).padStart(2, '0')].join('-')

/** A number with what it counts. */
export interface Quantity {
  readonly start: number
  readonly end: number
  /** What the number may mean: `1,234` is two numbers, by whose way of writing it is. */
  readonly readings: readonly Reading[]
  /** The same for all ways of writing a unit; undefined for a bare number. */
  readonly unit: string | undefined
}

export interface Reading {
  readonly value: number
  /** Half of the last digit that is written: what rounding may have taken. */
  readonly within: number
}

/** The ways of writing each unit. */
const written: Readonly<Record<string, string>> = {
  '%': '% percent prozent',
  usd: '$ usd us$ dollar dollars',
  eur: '€ eur euro euros',
  gbp: '£ gbp pound pounds',
  jpy: '¥ jpy yen',
  chf: 'chf',
  km: 'km kilometer kilometers kilometre kilometres',
  m: 'm meter meters metre metres',
  cm: 'cm centimeter centimeters centimetres',
  mm: 'mm millimeter millimeters millimetres',
  mile: 'mi mile miles',
  ft: 'ft foot feet',
  kg: 'kg kilogram kilograms kilo kilos',
  g: 'g gram grams gramm',
  mg: 'mg milligram milligrams',
  t: 't ton tons tonne tonnes',
  lb: 'lb lbs',
  l: 'l liter liters litre litres',
  ml: 'ml milliliter milliliters millilitres',
  ms: 'ms millisecond milliseconds',
  s: 's sec second seconds sekunde sekunden',
  min: 'min minute minutes minuten',
  h: 'h hour hours stunde stunden',
  day: 'day days tag tage tagen',
  week: 'week weeks woche wochen',
  month: 'month months monat monate monaten',
  year: 'year years jahr jahre jahren',
  kb: 'kb',
  mb: 'mb',
  gb: 'gb',
  tb: 'tb',
  w: 'w watt watts',
  kw: 'kw kilowatt kilowatts',
  kwh: 'kwh',
  'km/h': 'km/h kph',
  mph: 'mph',
  '°c': '°c',
  '°f': '°f',
  people: 'people persons users customers employees menschen personen nutzer kunden',
}

const unitOf = new Map(
  Object.entries(written).flatMap(([unit, ways]) => ways.split(' ').map((way) => [way, unit] as const)),
)

const scaleOf: ReadonlyMap<string, number> = new Map([
  ...['k', 'thousand', 'tausend'].map((name) => [name, 1e3] as const),
  ...['million', 'millions', 'mio', 'mio.', 'millionen'].map((name) => [name, 1e6] as const),
  ...['billion', 'billions', 'bn', 'mrd', 'mrd.', 'milliarden'].map((name) => [name, 1e9] as const),
])

const listed = (names: Iterable<string>): string =>
  [...names]
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.$/]/g, '\\$&'))
    .join('|')

const form = new RegExp(
  `(?<![\\p{L}\\p{N}.,_-])([$€£¥]|US\\$|USD |EUR |GBP |CHF )?([-−]?\\d{1,15}(?:[.,' \\u00a0\\u202f]\\d{3})*(?:[.,]\\d{1,9})?)` +
    `(?:[ \\u00a0-]?(${listed(scaleOf.keys())})(?![\\p{L}]))?(?:[ \\u00a0-]?(${listed(unitOf.keys())})(?![\\p{L}\\p{N}]))?(?![\\p{L}\\p{N}_])`,
  'giu',
)

/** The numbers of a text, each with its unit if it has one. */
export function quantitiesIn(text: string): Quantity[] {
  const found: Quantity[] = []
  for (const match of text.matchAll(form)) {
    const [all, before, digits = '', scale, behind] = match
    const factor = scaleOf.get(scale?.toLowerCase() ?? '') ?? 1
    const unit = unitOf.get((before?.trim() || behind)?.toLowerCase() ?? '')
    found.push({
      start: match.index,
      end: match.index + all.length,
      readings: readingsOf(digits, factor),
      unit,
    })
  }
  return found
}

/** What digits may mean, by the signs between them. */
function readingsOf(digits: string, factor: number): Reading[] {
  const plain = digits.replace('−', '-').replace(/[' \u00a0\u202f]/g, '')
  const readings = [
    asRead(plain.replaceAll(',', ''), '.', factor),
    asRead(plain.replaceAll('.', ''), ',', factor),
  ]
  const read = readings.filter((reading) => reading !== undefined)
  return read[0]?.value === read[1]?.value ? read.slice(0, 1) : read
}

function asRead(digits: string, point: string, factor: number): Reading | undefined {
  const [whole = '', part = '', ...more] = digits.split(point)
  if (more.length > 0) return undefined
  return { value: Number(`${whole}.${part || '0'}`) * factor, within: (10 ** -part.length / 2) * factor }
}

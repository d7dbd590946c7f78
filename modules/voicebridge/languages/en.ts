import { toCardinal, toOrdinal } from 'n2words/en-US'
import type { Words } from './words.ts'

const months = 'January February March April May June July August September October November December'.split(
  ' ',
)

const cents = (hundredths: string): string => ` and ${hundredths} cents`

/** Two digits behind a century or an hour. */
const behind = (value: number, none: string): string =>
  value === 0 ? none : value < 10 ? `oh ${toCardinal(value)}` : toCardinal(value)

function year(value: number): string {
  if (value % 1000 < 10) return toCardinal(value)
  return `${toCardinal(Math.floor(value / 100))} ${behind(value % 100, 'hundred')}`
}

const decade = (tens: string): string => toCardinal(tens).replace(/y?$/, (y) => (y ? 'ies' : 's'))

const unit = (name: string, many = `${name}s`): readonly [string, string] => [`one ${name}`, many]

export const english: Words = {
  code: 'A code example is left out here.',
  group: ',',
  decimal: '.',
  point: 'point',
  minus: 'minus',
  to: 'to',
  cardinal: (value) => toCardinal(value),
  year,
  time: (hour, minute) => `${toCardinal(hour)} ${behind(minute, hour <= 12 ? "o'clock" : 'hundred')}`,
  date: (of, month, day) => `${months[month - 1]} ${toOrdinal(day)}, ${year(of)}`,
  units: {
    km: unit('kilometer'),
    m: unit('meter'),
    cm: unit('centimeter'),
    mm: unit('millimeter'),
    'km/h': unit('kilometer per hour', 'kilometers per hour'),
    'm/s': unit('meter per second', 'meters per second'),
    mph: unit('mile per hour', 'miles per hour'),
    'm²': unit('square meter'),
    'km²': unit('square kilometer'),
    'm³': unit('cubic meter'),
    mi: unit('mile'),
    ft: unit('foot', 'feet'),
    kg: unit('kilogram'),
    g: unit('gram'),
    mg: unit('milligram'),
    t: unit('ton'),
    lb: unit('pound'),
    lbs: unit('pound'),
    oz: unit('ounce'),
    l: unit('liter'),
    L: unit('liter'),
    ml: unit('milliliter'),
    h: ['one hour', 'hours'],
    min: unit('minute'),
    s: unit('second'),
    ms: unit('millisecond'),
    kB: unit('kilobyte'),
    KB: unit('kilobyte'),
    MB: unit('megabyte'),
    GB: unit('gigabyte'),
    TB: unit('terabyte'),
    W: unit('watt'),
    kW: unit('kilowatt'),
    kWh: unit('kilowatt hour'),
    V: unit('volt'),
    Hz: unit('hertz', 'hertz'),
    kHz: unit('kilohertz', 'kilohertz'),
    MHz: unit('megahertz', 'megahertz'),
    GHz: unit('gigahertz', 'gigahertz'),
    px: unit('pixel'),
    '%': unit('percent', 'percent'),
    '°': unit('degree'),
    '°C': unit('degree Celsius', 'degrees Celsius'),
    '°F': unit('degree Fahrenheit', 'degrees Fahrenheit'),
  },
  money: {
    $: ['one dollar', 'dollars', cents],
    USD: ['one dollar', 'dollars', cents],
    '€': ['one euro', 'euros', cents],
    EUR: ['one euro', 'euros', cents],
    '£': ['one pound', 'pounds', (pence) => ` and ${pence} pence`],
    GBP: ['one pound', 'pounds', (pence) => ` and ${pence} pence`],
    '¥': ['one yen', 'yen', (rest) => ` point ${rest}`],
  },
  scales: ['thousand', 'million', 'billion', 'trillion'],
  abbreviations: [
    [/\be\. ?g\.,?/gi, 'for example'],
    [/\bi\. ?e\.,?/gi, 'that is'],
    [/\betc\.(?=\s+\p{Lu}|\s*$)/gu, 'and so on.'],
    [/\betc\./g, 'and so on'],
    [/\bvs\.?(?=\s)/g, 'versus'],
    [/\bapprox\./g, 'approximately'],
    [/\bDr\.(?=\s+\p{Lu})/gu, 'Doctor'],
    [/\bProf\.(?=\s+\p{Lu})/gu, 'Professor'],
    [/\bMr\.(?=\s+\p{Lu})/gu, 'Mister'],
    [/\bMrs\.(?=\s+\p{Lu})/gu, 'Missis'],
    [/\bSt\.(?=\s+\p{Lu})/gu, 'Saint'],
    [/\b[Nn]o\.(?=\s*\d)/g, 'number'],
    [/\b[Ff]ig\.(?=\s*\d)/g, 'figure'],
    [/(?<![\p{L}\d])#(?=\d)/gu, 'number '],
    [/\b([CF])#/g, '$1 sharp'],
    [/\bC\+\+/g, 'C plus plus'],
    [/\b(1[1-9]|20)([1-9]0)s\b/g, (_, century, tens) => `${toCardinal(century!)} ${decade(tens!)}`],
    [/(?<=\b[Tt]he )([2-9]0)s\b/g, (_, tens) => decade(tens!)],
    [
      /\b(\d{1,4})(?:st|nd|rd|th)\b/g,
      (_, digits) => (Number(digits) > 0 ? toOrdinal(Number(digits)) : 'zeroth'),
    ],
  ],
  symbols: [
    [/\s*&\s*/g, ' and '],
    [/\s*(?:->|→|⇒|=>)\s*/g, ' to '],
    [/\s*(?:<=|≤)\s*/g, ' is at most '],
    [/\s*(?:>=|≥)\s*/g, ' is at least '],
    [/\s*(?:!=|≠)\s*/g, ' is not '],
    [/\s*≈\s*/g, ' is about '],
    [/\s<\s/g, ' is less than '],
    [/\s>\s/g, ' is greater than '],
    [/\s*(?<!=)=(?!=)\s*/g, ' equals '],
    [/\s\+\s/g, ' plus '],
    [/\s[*×]\s/g, ' times '],
    [/\s÷\s/g, ' divided by '],
    [/\s*±\s*/g, ' plus or minus '],
    [/(?<=[\p{L}\d])@(?=[\p{L}\d])/gu, ' at '],
    [/\s*§\s*/g, ' section '],
    [/\s*%/g, ' percent'],
    [/\s*°/g, ' degrees'],
    [/€/g, ' euros '],
    [/£/g, ' pounds '],
    [/\s*~(?=\S)/g, ' about '],
  ],
}

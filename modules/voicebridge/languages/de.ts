import { toCardinal, toOrdinal } from 'n2words/de-DE'
import type { Words } from './words.ts'

const months = 'Januar Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' ')
const monthNames = months.join('|')

function year(value: number): string {
  if (value < 1100 || value > 1999) return toCardinal(value)
  const rest = value % 100
  return `${toCardinal(Math.floor(value / 100))}hundert${rest === 0 ? '' : toCardinal(rest)}`
}

/** Before a noun, one is not `eins`. */
const hours = (hour: number): string => (hour === 1 ? 'ein' : toCardinal(hour))

const same = (name: string): readonly [string, string] => [`ein ${name}`, name]
const feminine = (name: string, many = `${name}n`): readonly [string, string] => [`eine ${name}`, many]
const behind = (hundredths: string): string => ` ${hundredths}`

/** A day before the name of a month: `am dritten Mai`, `der dritte Mai`, `dritter Mai`. */
function dayOf(before: string, digits: string, month: string): string {
  if (Number(digits) < 1 || Number(digits) > 31) return `${before}${digits}. ${month}`
  const ending = before === '' ? 'r' : /^der/i.test(before) ? '' : 'n'
  return `${before}${toOrdinal(Number(digits))}${ending} ${month}`
}

export const german: Words = {
  code: 'Hier ist ein Codebeispiel ausgelassen.',
  group: '.',
  decimal: ',',
  point: 'Komma',
  minus: 'minus',
  to: 'bis',
  cardinal: (value) => toCardinal(value),
  year,
  time: (hour, minute) => `${hours(hour)} Uhr${minute === 0 ? '' : ` ${toCardinal(minute)}`}`,
  date: (of, month, day) => `${toOrdinal(day)}r ${months[month - 1]} ${year(of)}`,
  units: {
    km: same('Kilometer'),
    m: same('Meter'),
    cm: same('Zentimeter'),
    mm: same('Millimeter'),
    'km/h': same('Kilometer pro Stunde'),
    'm/s': same('Meter pro Sekunde'),
    'm²': same('Quadratmeter'),
    'km²': same('Quadratkilometer'),
    'm³': same('Kubikmeter'),
    kg: same('Kilogramm'),
    g: same('Gramm'),
    mg: same('Milligramm'),
    t: feminine('Tonne'),
    l: same('Liter'),
    ml: same('Milliliter'),
    h: feminine('Stunde'),
    Std: feminine('Stunde'),
    min: feminine('Minute'),
    Min: feminine('Minute'),
    s: feminine('Sekunde'),
    ms: feminine('Millisekunde'),
    kB: same('Kilobyte'),
    KB: same('Kilobyte'),
    MB: same('Megabyte'),
    GB: same('Gigabyte'),
    TB: same('Terabyte'),
    W: same('Watt'),
    kW: same('Kilowatt'),
    kWh: feminine('Kilowattstunde'),
    V: same('Volt'),
    Hz: same('Hertz'),
    kHz: same('Kilohertz'),
    MHz: same('Megahertz'),
    GHz: same('Gigahertz'),
    px: same('Pixel'),
    '%': same('Prozent'),
    '°': same('Grad'),
    '°C': same('Grad Celsius'),
    '°F': same('Grad Fahrenheit'),
    Mio: feminine('Million', 'Millionen'),
    Mrd: feminine('Milliarde'),
  },
  money: {
    '€': ['ein Euro', 'Euro', behind],
    EUR: ['ein Euro', 'Euro', behind],
    $: ['ein Dollar', 'Dollar', behind],
    USD: ['ein Dollar', 'Dollar', behind],
    '£': ['ein Pfund', 'Pfund', behind],
    GBP: ['ein Pfund', 'Pfund', behind],
    '¥': ['ein Yen', 'Yen', behind],
  },
  scales: ['tausend', 'Millionen', 'Milliarden', 'Billionen'],
  abbreviations: [
    [/\bz\. ?B\./g, 'zum Beispiel'],
    [/\bd\. ?h\./g, 'das heißt'],
    [/\bu\. ?a\./g, 'unter anderem'],
    [/\bi\. ?d\. ?R\./g, 'in der Regel'],
    [/\bo\. ?ä\./g, 'oder Ähnliches'],
    [/\busw\.(?=\s+\p{Lu}|\s*$)/gu, 'und so weiter.'],
    [/\busw\./g, 'und so weiter'],
    [/\betc\.(?=\s+\p{Lu}|\s*$)/gu, 'et cetera.'],
    [/\betc\./g, 'et cetera'],
    [/\bbzw\./g, 'beziehungsweise'],
    [/\bca\.(?=\s)/g, 'circa'],
    [/\bggf\./g, 'gegebenenfalls'],
    [/\bevtl\./g, 'eventuell'],
    [/\bvgl\./gi, 'vergleiche'],
    [/\binkl\./g, 'inklusive'],
    [/\bexkl\./g, 'exklusive'],
    [/\bMio\.(?=\s)/g, 'Mio'],
    [/\bMrd\.(?=\s)/g, 'Mrd'],
    [/\bNr\.(?=\s*\d)/g, 'Nummer'],
    [/\bAbs\.(?=\s*\d)/g, 'Absatz'],
    [/\bArt\.(?=\s*\d)/g, 'Artikel'],
    [/\bStr\.(?=\s)/g, 'Straße'],
    [/\bDr\.(?=\s+\p{Lu})/gu, 'Doktor'],
    [/\bProf\.(?=\s+\p{Lu})/gu, 'Professor'],
    [/\bSt\.(?=\s+\p{Lu})/gu, 'Sankt'],
    [/(?<![\p{L}\d])#(?=\d)/gu, 'Nummer '],
    [/\b([CF])#/g, '$1 sharp'],
    [/\bC\+\+/g, 'C plus plus'],
    [
      /\b([Vv]om) ([1-9]|[12]\d|3[01])\.(?= bis )/g,
      (_, vom, digits) => `${vom} ${toOrdinal(Number(digits))}n`,
    ],
    [
      new RegExp(
        `(\\b(?:[Aa]m|[Vv]om|[Zz]um|[Bb]eim|[Dd]er|[Dd]em|[Dd]en|[Dd]es|[Aa]b|[Bb]is) )?\\b(\\d{1,2})\\. (${monthNames})\\b`,
        'g',
      ),
      (_, before, digits, month) => dayOf(before ?? '', digits!, month!),
    ],
  ],
  symbols: [
    [/\s*&\s*/g, ' und '],
    [/\s*(?:->|→|⇒|=>)\s*/g, ' zu '],
    [/\s*(?:<=|≤)\s*/g, ' ist höchstens '],
    [/\s*(?:>=|≥)\s*/g, ' ist mindestens '],
    [/\s*(?:!=|≠)\s*/g, ' ist nicht '],
    [/\s*≈\s*/g, ' ist etwa '],
    [/\s<\s/g, ' ist kleiner als '],
    [/\s>\s/g, ' ist größer als '],
    [/\s*(?<!=)=(?!=)\s*/g, ' ist gleich '],
    [/\s\+\s/g, ' plus '],
    [/\s[*×]\s/g, ' mal '],
    [/\s÷\s/g, ' geteilt durch '],
    [/\s*±\s*/g, ' plus oder minus '],
    [/(?<=[\p{L}\d])@(?=[\p{L}\d])/gu, ' at '],
    [/\s*§\s*/g, ' Paragraf '],
    [/\s*%/g, ' Prozent'],
    [/\s*°/g, ' Grad'],
    [/€/g, ' Euro '],
    [/£/g, ' Pfund '],
    [/\s*~(?=\S)/g, ' etwa '],
  ],
}

import { withoutHidden } from '#kit'
import type { Signal } from './signal.ts'

/** What a part of a text says in another form. */
export interface Decoding {
  readonly decoded: string
  readonly start: number
  readonly end: number
  readonly kind: Extract<Signal['kind'], 'encoded' | 'obfuscated' | 'hidden_text'>
}

/** Readings of all of a text. */
export function* readings(text: string): Generator<Decoding> {
  const whole = { start: 0, end: text.length }
  const hidden = text.match(/(?:[\u{e0020}-\u{e007e}]{4,})|(?:[\u{fe00}-\u{fe0f}\u{e0100}-\u{e01ef}]{8,})/gu)
  for (const run of hidden ?? []) yield { decoded: unhidden(run), ...whole, kind: 'hidden_text' }
  for (const { index, 0: spaced } of text.matchAll(spacedOut))
    yield { decoded: closedUp(spaced), start: index, end: index + spaced.length, kind: 'obfuscated' }
  const read = text.replace(alike, (letter) => latin[letter]!).normalize('NFKC')
  const spelled = /[a-z][\d@$!|€+][a-z]|[\d@$!|€+][a-z]{2}|[a-z]{2}[\d@$|€+]/i.test(read)
  const plain = spelled ? read.replace(/[\w@$!|€+]+/g, unleet) : read
  if (plain !== text && isLatin(text)) yield { decoded: plain, ...whole, kind: 'obfuscated' }
  if (turned.test(text)) yield { decoded: rot13(text), ...whole, kind: 'encoded' }
  if (reversed.test(text)) yield { decoded: mirrored(text), ...whole, kind: 'encoded' }
  const parted = text.replace(/(?<=\p{L})[-_](?=\p{L})/gu, ' ')
  if (parted !== text) yield { decoded: parted, ...whole, kind: 'obfuscated' }
  const joined = text.replace(/(?<=\p{L})['"`]?\s?\+\s?['"`]?(?=\p{L})|(?<=\p{L})[*~_.|-](?=\p{L})/gu, '')
  if (joined !== text) yield { decoded: joined, ...whole, kind: 'obfuscated' }
}

function unhidden(run: string): string {
  const read = withoutHidden(run)
  if (read !== '') return read
  const bytes = [...run].map((character) => {
    const code = character.codePointAt(0)!
    return code >= 0xe0100 ? code - 0xe0100 + 16 : code - 0xfe00
  })
  return Buffer.from(bytes).toString('utf8')
}

/** Letters with something between all of them: `i g n o r e`. */
const spacedOut = /(?<![\p{L}\p{N}])\p{L}(?:[ .\-_*|]{1,3}\p{L}(?![\p{L}\p{N}])){9,}/gu

/** Words are told apart by more space than letters; where there is none, the guard's words are looked for as they come. */
const closedUp = (spaced: string): string =>
  spaced
    .split(/ {2,}|\s*[|/]\s*/)
    .map((word) => word.replace(/[ .\-_*|]/g, ''))
    .join(' ')

const leet: Readonly<Record<string, string>> = {
  '€': 'e',
  '+': 't',
  9: 'g',
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  8: 'b',
  '@': 'a',
  $: 's',
  '!': 'i',
  '|': 'l',
}

/** A word without signs is left as it is: to look for one with a sign from each of its letters on would take the square of its length. */
const unleet = (word: string): string =>
  /[\d@$!|€+]/.test(word) && (/[a-z]/i.test(word) || /^[0134579@$!|€+]{2,}$/.test(word))
    ? word.replace(/[01345789@$!|€+]/g, (sign, at: number) =>
        sign === '!' && at === word.length - 1 ? sign : leet[sign]!,
      )
    : word

/** Letters that look like Latin ones, also by far: all of a word that has been spelled with them reads as Latin. */
const pairs =
  'аa еe оo рp сc уy хx іi јj ѕs һh ԁd ѵv ӏl кk тt мm нh вb єe гr иu пn αa οo νv ρp ιi κk υu τt χx γy εe ηn ωw σo λl βb δd μu θo ϲc ɑa ɡg ıi ɩi ʀr ɴn ᴏo ᴇe ꜱs ɪi ᴛt ᴀa ℮e ⅼl ο0 ∂d'
const latin: Readonly<Record<string, string>> = Object.fromEntries(
  pairs
    .split(' ')
    .flatMap((pair) => [
      pair.split('') as [string, string],
      [pair[0]!.toUpperCase(), pair[1]!.toUpperCase()] as [string, string],
    ]),
)
const alike = new RegExp(`[${Object.keys(latin).join('')}]`, 'g')

/** Words that attacks have, as `change` writes them: so texts without any need not be read that way. */
const written = (change: (text: string) => string): RegExp =>
  new RegExp(
    'ignor disregard forget instruct prompt system reveal previous rules pretend'
      .split(' ')
      .map(change)
      .join('|'),
    'i',
  )

const isLatin = (text: string): boolean => (text.match(/[a-z]/gi)?.length ?? 0) > text.length / 2

const rot13 = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })

const mirrored = (text: string): string => [...text].reverse().join('')

const turned = written(rot13)
const reversed = written(mirrored)

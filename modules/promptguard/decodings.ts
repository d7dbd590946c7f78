import { type Decoding, readings } from './readings.ts'

/** Encodings within encodings. */
const deepest = 2

/** Characters that one is encoded with at the most. */
const widest = 8

/**
 * Other readings of a text, and of parts of it: what is encoded, spelled oddly or hidden. Each takes linear time. `isCut`: what it
 * begins with may be the rest of something encoded.
 */
export function decodingsOf(text: string, isCut = false): Decoding[] {
  const found = [...encoded(text, isCut, 0), ...readings(text)]
  return found.filter(({ decoded }) => decoded.length >= 12)
}

function* encoded(text: string, isCut: boolean, depth: number): Generator<Decoding> {
  for (const { form, decode } of encodings) {
    for (const { index, 0: written } of text.matchAll(form)) {
      const isRest = isCut && index === 0
      const decoded = textOf(written, decode, isRest)
      if (decoded === undefined) continue
      const at = { start: index, end: index + written.length, kind: 'encoded' as const }
      yield { decoded, ...at }
      if (depth < deepest)
        for (const inner of encoded(decoded, isRest, depth + 1)) yield { decoded: inner.decoded, ...at }
    }
  }
}

/** What is written there, if it is a text; of the rest of something, from where one of its characters begins. */
function textOf(written: string, decode: Decode, isRest: boolean): string | undefined {
  for (let from = 0; from < (isRest ? widest : 1); from += 1) {
    const decoded = decode(written.slice(from))?.replace(/^\ufffd{1,3}|\ufffd{1,3}$/g, '')
    if (decoded !== undefined && isText(decoded)) return decoded
  }
  return undefined
}

type Decode = (written: string) => string | undefined

const encodings: readonly { readonly form: RegExp; readonly decode: Decode }[] = [
  {
    form: /[A-Za-z\d+/_-]{16,}(?:[\r\n]{1,2}[A-Za-z\d+/_-]{4,})*={0,2}/g,
    decode: (written) => Buffer.from(written.replace(/\s/g, ''), 'base64').toString('utf8'),
  },
  {
    form: /(?:(?:0x|\\x)?[\da-f]{2}[\s,:]?){12,}/gi,
    decode: (written) => Buffer.from(written.replace(/0x|\\x|[\s,:]/gi, ''), 'hex').toString('utf8'),
  },
  {
    form: /(?:[01]{8}[\s,]?){8,}/g,
    decode: (written) =>
      Buffer.from(written.match(/[01]{8}/g)!.map((byte) => Number.parseInt(byte, 2))).toString('utf8'),
  },
  {
    form: /(?:\b\d{2,3}[\s,;]{1,2}){11,}\d{2,3}\b/g,
    decode: (written) =>
      Buffer.from(written.match(/\d+/g)!.map((code) => Number(code) % 256)).toString('utf8'),
  },
  {
    form: /[\w.~+-]{0,40}%[\da-f]{2}(?:[\w.~%+-]|%[\da-f]{2}){8,}/gi,
    decode: (written) =>
      written
        .replaceAll('+', ' ')
        .replace(/%([\da-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16))),
  },
  {
    form: /(?:\\u\{?[\da-f]{2,6}\}?[ ]?){6,}/gi,
    decode: (written) => points(written.match(/[\da-f]{2,6}/gi)!, 16),
  },
  {
    form: /(?:&#x?[\da-f]{2,6};\s?){6,}/gi,
    decode: (written) =>
      written.replace(/&#(x?)([\da-f]{2,6});/gi, (_, isHex, code) => points([code], isHex ? 16 : 10) ?? ''),
  },
  {
    form: /(?:[.·•-]{1,6}[ /|]{1,3}){12,}[.·•-]{0,6}/g,
    decode: (written) =>
      written
        .replace(/[·•]/g, '.')
        .split(/\s*[/|]\s*|\s{2,}/)
        .map((word) =>
          word
            .split(/\s/)
            .map((code) => morse[code] ?? '')
            .join(''),
        )
        .join(' '),
  },
]

function points(codes: readonly string[], base: number): string | undefined {
  const numbers = codes.map((code) => Number.parseInt(code, base))
  return numbers.every((code) => code <= 0x10ffff) ? String.fromCodePoint(...numbers) : undefined
}

const morse: Readonly<Record<string, string>> = Object.fromEntries(
  ' .- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..'
    .split(' ')
    .flatMap((code, n) => (code === '' ? [] : [[code, String.fromCharCode(96 + n)]])),
)

/** Whether bytes were a text: mostly letters and blanks, and no character that stands for bytes that are none. */
function isText(decoded: string): boolean {
  const letters = decoded.match(/[\p{L}\p{M}\s]/gu)?.length ?? 0
  return letters > decoded.length * 0.7 && !decoded.includes('\ufffd')
}

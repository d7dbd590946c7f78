/** Characters of an answer that are judged. */
const most = 50_000
/** Encodings within encodings. */
const deepest = 2

interface Decoding {
  readonly form: RegExp
  decode(written: string): readonly string[]
}

const encodings: readonly Decoding[] = [
  {
    form: /[A-Za-z\d+/_-]{12,}(?:[\r\n]{1,2}[A-Za-z\d+/_-]{4,})*={0,2}/g,
    // A word may stand before it without a space, so its first character is one of four.
    decode: (written) =>
      [0, 1, 2, 3].map((skipped) =>
        Buffer.from(written.replace(/\s/g, '').slice(skipped), 'base64').toString('utf8'),
      ),
  },
  {
    form: /(?:(?:0x|\\x)?[\da-f]{2}[\s,:]?){8,}/gi,
    decode: (written) => [Buffer.from(written.replace(/0x|\\x|[\s,:]/gi, ''), 'hex').toString('utf8')],
  },
  {
    form: /(?:\\u00[\da-f]{2}|%[\da-f]{2}|[\w.~-]){8,}/gi,
    decode: (written) => [
      written.replace(/(?:\\u00|%)([\da-f]{2})/gi, (_, code) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      ),
    ],
  },
]

const rotated = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => {
    const first = letter < 'a' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first)
  })

/** Ways to read a text other than as it stands: decoded, in parts and in parts of these, rotated, and from its end. */
export function readingsOf(text: string): string[] {
  const read = text.slice(0, most)
  return [...decoded(read, 0), rotated(read), [...read].reverse().join('')]
}

function* decoded(text: string, depth: number): Generator<string> {
  for (const { form, decode } of encodings)
    for (const [written] of text.matchAll(form))
      for (const reading of decode(written)) {
        if (reading === written || reading === '') continue
        yield reading
        if (depth < deepest && reading.length >= 12) yield* decoded(reading, depth + 1)
      }
}

/** A text as its letters and digits alone, in lower case: marks are found however they are spaced, dashed or styled. */
export const squashed = (text: string): string =>
  text
    .slice(0, most)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

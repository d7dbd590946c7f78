import { type Chunk, nameOf, pathOf } from '../chunk.ts'

/** A comment, an element whose content is no text, a tag, or text. An end that is missing is the end of the document. */
const tokens =
  /<!--[\s\S]*?(?:-->|$)|<(script|style|template|noscript|svg|head)\b[\s\S]*?(?:<\/\1\s*>|$)|<(\/?)([a-z][a-z0-9]*)\b(?:[^<>"']|"[^"]*"|'[^']*')*>|<[!?][^<>]*>|[^<]+|</gi
const titled = /<title\b[^<>]*>([^<]*)/i
const blocks = new Set(
  `address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p
  pre section table td th tr ul`.split(/\s+/),
)

/** The paragraphs of an HTML document under its headings. Scripts, styles and comments are no text. */
export function* htmlPieces(content: string): Generator<Chunk> {
  const title = titled.exec(content)?.[1]
  const headings: string[] = title === undefined ? [] : [nameOf(decoded(title))]
  const first = headings.length
  let text = ''
  let level = 0
  const piece = (): Chunk => ({
    path: pathOf(headings.filter((name) => name !== undefined)),
    text: decoded(text)
      .replace(/[^\S\n]+/g, ' ')
      .trim(),
  })
  for (const [token, , slash, name] of content.matchAll(tokens)) {
    if (name === undefined) {
      if (!token.startsWith('<') || token === '<') text += token.replace(/\s+/g, ' ')
      continue
    }
    const element = name.toLowerCase()
    if (!blocks.has(element)) continue
    const [, digit] = /^h([1-6])$/.exec(element) ?? []
    if (digit !== undefined && slash === '/' && level > 0) {
      headings.length = Math.min(headings.length, first + level - 1)
      headings[first + level - 1] = nameOf(decoded(text))
      level = 0
    } else {
      yield piece()
      level = digit === undefined || slash === '/' ? 0 : Number(digit)
    }
    text = ''
  }
  yield piece()
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  reg: '®',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  euro: '€',
  pound: '£',
  deg: '°',
  times: '×',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  ntilde: 'ñ',
}

const decoded = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return named[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : ''
  })

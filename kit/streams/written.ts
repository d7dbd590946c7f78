/**
 * A text that grows, as detectors read it and as it is written. Parts are taken from it in order, each once, so that
 * what they are written in can depend on what went before.
 */
export interface Written {
  /** The text that detectors read. */
  readonly text: string
  add(part: string): void
  /** The text has ended: an unfinished escape counts as it is. */
  close(): void
  /** The last place up to `limit` at which the text can be parted, once what stands before it is there. */
  parting(limit: number): number
  /** Where that begins, of what was not taken yet, which is replaced as a whole with this character. */
  wholeFrom(start: number): number
  /** Part of the text, as it was written. */
  take(start: number, end: number): string
  /** The replacement of a part, as it is written. */
  replace(start: number, end: number, by: string): string
  /** Drops characters from the front. */
  forget(count: number): void
}

/** Text that is read as it is written. */
export class PlainText implements Written {
  text = ''

  add(part: string): void {
    this.text += part
  }

  close(): void {}

  parting(limit: number): number {
    return outsideOfPairs(this.text, limit)
  }

  wholeFrom(start: number): number {
    return start
  }

  take(start: number, end: number): string {
    return this.text.slice(start, end)
  }

  replace(_start: number, _end: number, by: string): string {
    return by
  }

  forget(count: number): void {
    this.text = this.text.slice(count)
  }
}

/** A limit that leaves no half of a character behind. */
export function outsideOfPairs(text: string, limit: number): number {
  const last = text.charCodeAt(limit - 1)
  return last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit
}

/** Characters of a number or a literal. */
const scalar = /[-+.\w]/
/** What goes on for longer outside of strings is neither, and is not held back. */
const longestScalar = 400

/**
 * JSON text, read with the escapes of its strings decoded. A replacement is escaped; of a number or a literal it takes the whole
 * place, as a string, and the quotes that hold the JSON together stay, whatever it covers.
 */
export class JsonText implements Written {
  text = ''
  #raw = ''
  /** For each character of `text`, where in `#raw` it begins; both counted from the start of everything. */
  #at: number[] = []
  /** How much of the raw text was forgotten. */
  #gone = 0
  /** An escape whose rest has not come. */
  #rest = ''
  /** Up to where the text was taken. */
  #taken = 0
  /** Whether what was taken last ended inside a string. */
  #inString = false
  /** How much of a number or a literal that goes on here was taken. */
  #scalar = 0
  /** Whether something stands in the place of that already. */
  #isReplaced = false

  add(part: string): void {
    this.#read(this.#rest + part, false)
  }

  close(): void {
    this.#read(this.#rest, true)
  }

  parting(limit: number): number {
    const goesOn = limit === this.text.length || scalar.test(this.text[limit]!)
    return Math.min(goesOn ? this.#scalarFrom(limit) : limit, outsideOfPairs(this.text, limit))
  }

  wholeFrom(start: number): number {
    return scalar.test(this.text[start]!) ? this.#scalarFrom(start) : start
  }

  take(start: number, end: number): string {
    let from = start
    for (let i = start; i < end; i += 1) {
      this.#pass(i)
      if (this.#isReplaced) from = i + 1
    }
    return this.#written(from, end)
  }

  replace(start: number, end: number, by: string): string {
    const inner = JSON.stringify(by).slice(1, -1)
    let quotes = 0
    let isScalar = false
    for (let i = start; i < end; i += 1) {
      if (this.#isQuote(i)) quotes += 1
      isScalar ||= scalar.test(this.text[i]!)
    }
    if (quotes === 0) return this.#betweenQuotes(start, end, inner, isScalar)
    let written = this.#inString ? inner : ''
    let put = this.#inString
    for (let i = start; i < end; i += 1) {
      this.#pass(i)
      if (this.#isQuote(i)) {
        written += '"'
        if (put) continue
        written += inner
        put = true
      } else if (!this.#inString) written += this.#written(i, i + 1)
    }
    return written
  }

  forget(count: number): void {
    const gone = this.#rawIndex(count)
    this.#raw = this.#raw.slice(gone - this.#gone)
    this.#at = this.#at.slice(count)
    this.text = this.text.slice(count)
    this.#gone = gone
    this.#taken -= count
  }

  /** Where the number or literal begins that goes on here. */
  #scalarFrom(at: number): number {
    let inString = this.#inString
    for (let i = this.#taken; i < at; i += 1) if (this.#isQuote(i)) inString = !inString
    if (inString) return at
    let from = at
    while (from > this.#taken && scalar.test(this.text[from - 1]!)) from -= 1
    const length = at - from + (from === this.#taken ? this.#scalar : 0)
    return length > longestScalar ? at : from
  }

  /** Goes on over a character. */
  #pass(i: number): void {
    this.#taken = i + 1
    const isQuote = this.#isQuote(i)
    if (isQuote) this.#inString = !this.#inString
    const isScalar = !isQuote && !this.#inString && scalar.test(this.text[i]!)
    this.#scalar = isScalar ? this.#scalar + 1 : 0
    this.#isReplaced &&= isScalar
  }

  #betweenQuotes(start: number, end: number, inner: string, isScalar: boolean): string {
    const isThere = this.#isReplaced && scalar.test(this.text[start]!)
    for (let i = start; i < end; i += 1) this.#pass(i)
    if (this.#inString) return inner
    this.#isReplaced = this.#scalar > 0
    return isThere || (inner === '' && !isScalar) ? '' : `"${inner}"`
  }

  #read(part: string, last: boolean): void {
    this.#rest = ''
    let read = ''
    let i = 0
    const base = this.#gone + this.#raw.length
    while (i < part.length) {
      const length = part[i] === '\\' ? escapeLength(part, i) : 1
      if (length === undefined && !last) break
      this.#at.push(base + i)
      read += length === undefined || length === 1 ? part[i]! : decoded(part, i, length)
      i += length ?? 1
    }
    this.#raw += part.slice(0, i)
    this.#rest = part.slice(i)
    this.text += read
  }

  #rawIndex(i: number): number {
    return this.#at[i] ?? this.#gone + this.#raw.length
  }

  #written(start: number, end: number): string {
    return this.#raw.slice(this.#rawIndex(start) - this.#gone, this.#rawIndex(end) - this.#gone)
  }

  /** Whether a character begins or ends a string, rather than being in one. */
  #isQuote(i: number): boolean {
    return this.text[i] === '"' && this.#raw[this.#at[i]! - this.#gone] === '"'
  }
}

/** Characters of the escape that begins here: 1 for a backslash that begins none, undefined when its rest is missing. */
function escapeLength(text: string, at: number): number | undefined {
  const kind = text[at + 1]
  if (kind === undefined) return undefined
  if (kind !== 'u') return kind in escapes ? 2 : 1
  const digits = text.slice(at + 2, at + 6)
  if (!/^[\da-f]*$/i.test(digits)) return 1
  return digits.length === 4 ? 6 : undefined
}

function decoded(text: string, at: number, length: number): string {
  if (length === 6) return String.fromCharCode(Number.parseInt(text.slice(at + 2, at + 6), 16))
  return escapes[text[at + 1] as keyof typeof escapes]
}

const escapes = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
} as const

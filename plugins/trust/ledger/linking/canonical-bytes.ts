import { Fields } from './fields.ts'
import { none, Pieces } from './pieces.ts'

const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const nine = 0x39
const colon = 0x3a
const openList = 0x5b
const backslash = 0x5c
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
const firstPrinted = 0x20
const lastAscii = 0x7f

/** Whether a byte may stand in a text, or in a name, as it is. */
const inTexts = tableOf((byte) => byte >= firstPrinted && byte !== quote && byte !== backslash)
const inNames = tableOf((byte) => inTexts[byte] === 1 && byte <= lastAscii)
/** The letters behind a backslash of which JSON has no other way to write their characters. */
const escapes = tableOf((byte) => '"\\bfnrt'.includes(String.fromCharCode(byte)))
const [yes, no, empty] = [Buffer.from('true'), Buffer.from('false'), Buffer.from('null')]

/** Digits that a double holds for certain, whatever they are. */
const mostDigits = 15
/** Places behind the point of a number below 1, from which on it is written with an exponent. */
const mostPlaces = 6
/** Levels of objects and lists. */
const deepest = 32
/** Bytes of what is put in order in memory that is kept. */
const usual = 65_536

/** What a scan says of a value that it cannot put in order. */
const refused = -1

function tableOf(has: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => Number(has(byte)))
}

/**
 * JSON with its fields in the order of canonical JSON (RFC 8785), where it has that form otherwise: no blanks, no escapes that are
 * not needed, numbers as they are usually written, names in ASCII. It makes no object and no text, and so takes less time than
 * parsing the JSON. What it returns are the bytes themselves where they are in order, or others that the next call writes over;
 * undefined means that they are of another form, or no JSON at all.
 */
export function canonicalBytes(bytes: Buffer, start: number, end: number): Buffer | undefined {
  return (end - start > usual ? new Scan(end - start) : kept).canonical(bytes, start, end)
}

class Scan {
  readonly #fields = new Fields()
  readonly #pieces = new Pieces()
  /** Where the bytes in their order are. */
  readonly #ordered: Buffer
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  #end = 0
  /** The last piece of the value that was passed last, where it has pieces. */
  #last = none

  /** `most` is how many bytes there are to put in order. */
  constructor(most: number) {
    this.#ordered = Buffer.allocUnsafeSlow(most)
  }

  canonical(bytes: Buffer, start: number, end: number): Buffer | undefined {
    this.#bytes = bytes
    this.#at = start
    this.#end = end
    this.#pieces.clear()
    this.#fields.clear(bytes)
    const first = this.#value(0)
    if (first === refused || this.#at !== end) return undefined
    if (first === none) return bytes.subarray(start, end)
    return this.#ordered.subarray(0, this.#pieces.copy(first, bytes, this.#ordered))
  }

  /** The first of the pieces that a value has once it is in order; none where it is in order already. */
  #value(depth: number): number {
    const byte = this.#next()
    if (byte === quote) return this.#passesText() ? none : refused
    if (byte === openObject) return depth < deepest ? this.#object(depth + 1) : refused
    if (byte === openList) return depth < deepest ? this.#list(depth + 1) : refused
    const isPassed = byte === minus || isDigit(byte) ? this.#passesNumber() : this.#passesWord()
    return isPassed ? none : refused
  }

  /** The byte that comes next; behind the end one that nothing begins with. */
  #next(): number {
    return this.#at < this.#end ? this.#bytes[this.#at]! : 0
  }

  /** Whether this byte comes next; then it is passed. */
  #passes(byte: number): boolean {
    if (this.#next() !== byte) return false
    this.#at += 1
    return true
  }

  #passesText(): boolean {
    const bytes = this.#bytes
    const end = this.#end
    let at = this.#at + 1
    while (at < end) {
      const byte = bytes[at++]!
      if (inTexts[byte] === 1) continue
      if (byte !== backslash) return this.#endsText(byte, at)
      if (at === end || escapes[bytes[at++]!] !== 1) return false
    }
    return false
  }

  /** A name in ASCII without escapes: so the order of its bytes is that of its characters. */
  #passesName(): boolean {
    if (this.#next() !== quote) return false
    const bytes = this.#bytes
    const end = this.#end
    let at = this.#at + 1
    while (at < end) {
      const byte = bytes[at++]!
      if (inNames[byte] !== 1) return this.#endsText(byte, at)
    }
    return false
  }

  #endsText(byte: number, behind: number): boolean {
    this.#at = behind
    return byte === quote
  }

  #list(depth: number): number {
    let from = this.#at
    this.#at += 1
    if (this.#passes(closeList)) return none
    let first = none
    let last = none
    do {
      const start = this.#at
      const item = this.#value(depth)
      if (item === refused) return refused
      if (item === none) continue
      if (first === none) first = last = this.#pieces.add(from, start)
      else last = this.#pieces.append(last, from, start)
      this.#pieces.join(last, item)
      last = this.#last
      from = this.#at
    } while (this.#passes(comma))
    if (!this.#passes(closeList)) return refused
    if (first !== none) this.#last = this.#pieces.append(last, from, this.#at)
    return first
  }

  #object(depth: number): number {
    const fields = this.#fields
    const start = this.#at
    this.#at += 1
    if (this.#passes(closeObject)) return none
    const first = fields.count
    let isInOrder = true
    do {
      const field = this.#field(depth)
      if (field === refused) return refused
      const order = field === first ? -1 : fields.compare(field - 1, field)
      if (order === 0) return refused
      isInOrder &&= order < 0 && fields.firstOf(field) === none
    } while (this.#passes(comma))
    if (!this.#passes(closeObject)) return refused
    const pieces = isInOrder ? none : this.#sorted(start, first)
    fields.cut(first)
    return pieces
  }

  /** The place of the field that comes next. */
  #field(depth: number): number {
    const start = this.#at
    if (!this.#passesName()) return refused
    const field = this.#fields.add(start, this.#at)
    const value = this.#passes(colon) ? this.#value(depth) : refused
    if (value === refused) return refused
    this.#fields.end(field, this.#at, value, this.#last)
    return field
  }

  /** The first of the pieces of an object that begins here and has the fields from this one on. */
  #sorted(start: number, field: number): number {
    const fields = this.#fields
    const pieces = this.#pieces
    const { count } = fields
    const firstEnd = fields.endOf(field)
    if (!fields.sort(field)) return refused
    const first = pieces.add(start, start + 1)
    let last = first
    for (let place = field; place < count; place++) {
      // The comma behind the field that was the first one.
      if (place > field) last = pieces.append(last, firstEnd, firstEnd + 1)
      last = this.#putField(last, fields.at(place))
    }
    this.#last = pieces.append(last, this.#at - 1, this.#at)
    return first
  }

  /** Puts the pieces of a field behind the last one. Returns which is the last one then. */
  #putField(last: number, field: number): number {
    const fields = this.#fields
    const value = fields.firstOf(field)
    if (value === none) return this.#pieces.append(last, fields.startOf(field), fields.endOf(field))
    // The name with its colon.
    const name = this.#pieces.append(last, fields.startOf(field), fields.nameEndOf(field) + 1)
    this.#pieces.join(name, value)
    return fields.lastOf(field)
  }

  #passesNumber(): boolean {
    const isNegative = this.#passes(minus)
    const isBelowOne = this.#next() === zero
    const whole = this.#digits()
    if (whole === 0 || (isBelowOne && whole > 1)) return false
    if (!this.#passes(point))
      return whole <= mostDigits && !(isNegative && isBelowOne) && this.#isEndOfNumber()
    const places = this.#digits()
    if (places === 0 || this.#bytes[this.#at - 1] === zero || (isBelowOne && places > mostPlaces))
      return false
    return whole + places <= mostDigits && this.#isEndOfNumber()
  }

  #digits(): number {
    const start = this.#at
    while (isDigit(this.#next())) this.#at += 1
    return this.#at - start
  }

  /** An exponent would follow. */
  #isEndOfNumber(): boolean {
    const byte = this.#next()
    return byte !== 0x65 && byte !== 0x45
  }

  #passesWord(): boolean {
    const byte = this.#next()
    const word = byte === yes[0] ? yes : byte === no[0] ? no : empty
    if (this.#at + word.length > this.#end) return false
    for (const letter of word) if (this.#bytes[this.#at++] !== letter) return false
    return true
  }
}

const isDigit = (byte: number): boolean => byte >= zero && byte <= nine

const kept = new Scan(usual)

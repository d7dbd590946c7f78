/** At most so many bytes of UTF-8 has one unit of UTF-16. */
const bytesOfUnit = 3
/** Of a longer text it is worth knowing how many bytes it has, before there is room for the most that it could have. */
const long = 16_384
const sizeBytes = 4
const numberBytes = 8

/**
 * Bytes that grow. The garbage collector neither copies them nor walks through them, which it does with texts that are kept for
 * a while.
 */
export class ByteWriter {
  #bytes: Buffer
  #length = 0

  /** `size` is how many bytes are expected. */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size)
  }

  get length(): number {
    return this.#length
  }

  /** Bytes that there is memory for. */
  get capacity(): number {
    return this.#bytes.length
  }

  /** What was written. It shares its memory with what is written later, until that has no room. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Adds a text that has ASCII characters only. */
  ascii(text: string): void {
    this.#reserve(text.length)
    this.#length += this.#bytes.write(text, this.#length, 'latin1')
  }

  copy(from: Buffer, start: number, end: number): void {
    this.#reserve(end - start)
    this.#length += from.copy(this.#bytes, this.#length, start, end)
  }

  /** Adds a number as a double. */
  number(value: number): void {
    this.#reserve(numberBytes)
    this.#length = this.#bytes.writeDoubleLE(value, this.#length)
  }

  /** Adds a number of things, in four bytes. */
  size(value: number): void {
    this.#reserve(sizeBytes)
    this.#length = this.#bytes.writeUInt32LE(value, this.#length)
  }

  /** Adds how many bytes of UTF-8 a text has, in four bytes, and these. */
  sized(text: string): void {
    const most = text.length > long ? Buffer.byteLength(text) : text.length * bytesOfUnit
    this.#reserve(sizeBytes + most)
    const start = this.#length + sizeBytes
    const size = this.#bytes.write(text, start)
    this.#bytes.writeUInt32LE(size, this.#length)
    this.#length = start + size
  }

  /** Takes back what is behind the first so many bytes. */
  cut(length: number): void {
    this.#length = length
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}

/** Reads what a ByteWriter wrote, piece by piece. */
export class ByteReader {
  readonly bytes: Buffer
  /** Where the next piece begins. */
  at = 0

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.bytes = Buffer.from(buffer, byteOffset, byteLength)
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length
  }

  number(): number {
    const value = this.bytes.readDoubleLE(this.at)
    this.at += numberBytes
    return value
  }

  size(): number {
    const value = this.bytes.readUInt32LE(this.at)
    this.at += sizeBytes
    return value
  }

  /** Passes a text with its size. Returns where it begins. */
  text(): number {
    const size = this.size()
    this.at += size
    return this.at - size
  }
}

/** Bytes that are adjacent in memory, as one piece without a copy. */
export class ByteRun {
  readonly #first: Buffer
  #length: number

  constructor(first: Buffer) {
    this.#first = first
    this.#length = first.length
  }

  /** Takes in bytes that lie right behind; false, and nothing done, for others. */
  extend(bytes: Buffer): boolean {
    const { buffer, byteOffset } = this.#first
    if (bytes.buffer !== buffer || bytes.byteOffset !== byteOffset + this.#length) return false
    this.#length += bytes.length
    return true
  }

  get bytes(): Buffer {
    const { buffer, byteOffset, length } = this.#first
    return this.#length === length ? this.#first : Buffer.from(buffer, byteOffset, this.#length)
  }
}

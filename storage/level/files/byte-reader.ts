/** Reads the numbers and bytes of a LevelDB file one after the other. Throws `RangeError` behind the end. */
export class ByteReader {
  readonly #bytes: Buffer
  at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isOver(): boolean {
    return this.at >= this.#bytes.length
  }

  /** Seven bits a byte, the lowest first, up to 53 bits. */
  varint(): number {
    let value = 0
    for (let factor = 1; factor <= 2 ** 49; factor *= 128) {
      const byte = this.#bytes.readUInt8(this.at++)
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
    throw new RangeError('a number is too long')
  }

  take(length: number): Buffer {
    if (this.at + length > this.#bytes.length) throw new RangeError('bytes are missing')
    this.at += length
    return this.#bytes.subarray(this.at - length, this.at)
  }
}

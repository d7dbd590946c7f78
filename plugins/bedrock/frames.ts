import { crc32 } from 'node:zlib'

/** One message of a stream: what its text headers say, and its payload. */
export interface Frame {
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Buffer
}

/** Lengths of the whole and of its headers, and a checksum of these two. */
const preludeBytes = 12
const checksumBytes = 4
const leastBytes = preludeBytes + checksumBytes
/** The most that AWS's own libraries take. */
const mostBytes = 24 * 1024 * 1024
const textType = 7

/** Lengths of header values by their types; the missing ones say their length themselves. */
const fixedBytes: ReadonlyMap<number, number> = new Map([
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 2],
  [4, 4],
  [5, 8],
  [8, 8],
  [9, 16],
])

/**
 * Cuts a byte stream in the format `application/vnd.amazon.eventstream` into its messages, at any cut. Throws a
 * RangeError for what is none: a checksum that is wrong, a length that cannot be, headers that end beyond their place.
 * A length is believed only after its checksum, so that a broken one never makes it wait for bytes that will not come.
 */
export class FrameSplitter {
  #held: Buffer[] = []
  #bytes = 0
  /** Length of the frame that has begun, once that is known. */
  #length: number | undefined;

  /** The frames that are complete with these bytes, as far as nothing is wrong. */
  *push(bytes: Buffer): Generator<Frame> {
    this.#held.push(bytes)
    this.#bytes += bytes.length
    while (this.#bytes >= (this.#length ?? preludeBytes)) {
      const buffer = this.#joined()
      this.#length ??= lengthOf(buffer)
      if (buffer.length < this.#length) break
      const frame = frameOf(buffer.subarray(0, this.#length))
      this.#held = [buffer.subarray(this.#length)]
      this.#bytes = buffer.length - this.#length
      this.#length = undefined
      yield frame
    }
  }

  /** Whether a frame has begun that is not complete. */
  get pending(): boolean {
    return this.#bytes > 0
  }

  #joined(): Buffer {
    const buffer = this.#held.length === 1 ? this.#held[0]! : Buffer.concat(this.#held)
    this.#held = [buffer]
    return buffer
  }
}

function lengthOf(buffer: Buffer): number {
  if (crc32(buffer.subarray(0, 8)) !== buffer.readUInt32BE(8))
    throw new RangeError('a checksum of its lengths is wrong')
  const length = buffer.readUInt32BE(0)
  if (length < leastBytes || length > mostBytes) throw new RangeError(`a length of ${length} cannot be`)
  if (buffer.readUInt32BE(4) > length - leastBytes)
    throw new RangeError('its headers are longer than the whole')
  return length
}

function frameOf(bytes: Buffer): Frame {
  const end = bytes.length - checksumBytes
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) throw new RangeError('a checksum is wrong')
  const headersEnd = preludeBytes + bytes.readUInt32BE(4)
  return {
    headers: headersIn(bytes.subarray(preludeBytes, headersEnd)),
    payload: bytes.subarray(headersEnd, end),
  }
}

/** The headers that are texts; reads beyond the end throw a RangeError by themselves. */
function headersIn(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>()
  let at = 0
  while (at < bytes.length) {
    const nameEnd = at + 1 + bytes.readUInt8(at)
    const name = bytes.toString('utf8', at + 1, nameEnd)
    const type = bytes.readUInt8(nameEnd)
    const fixed = fixedBytes.get(type)
    if (fixed === undefined && type !== textType && type !== 6)
      throw new RangeError('a header has an unknown type')
    const start = nameEnd + (fixed === undefined ? 3 : 1)
    at = start + (fixed ?? bytes.readUInt16BE(nameEnd + 1))
    if (at > bytes.length) throw new RangeError('a header ends beyond its place')
    if (type === textType) headers.set(name, bytes.toString('utf8', start, at))
  }
  return headers
}

import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { StoredValue } from './group-commit.ts'

/** Texts shorter than this, in UTF-16 units, gain less than the call costs. */
const worthwhile = 512
/** The fastest level that still finds what rows of a log repeat; what is not written need not be compacted either. */
const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** How a frame of zstd begins (RFC 8878, 3.1.1): no text that is stored here begins so. */
const magic = [0x28, 0xb5, 0x2f, 0xfd]

/** Where texts become bytes, one after the other: what is compressed needs no copy of its own. */
let scratch = Buffer.allocUnsafeSlow(256 * 1024)
/** A larger scratch than this is not kept. */
const largestKept = 4 * 1024 * 1024
/** Of one UTF-16 unit in UTF-8. */
const mostBytes = 3
const lineBreak = 0x0a

/** Texts as they are stored, as one, with line breaks between them or not: in a frame of zstd, unless it is short. */
export function compress(texts: readonly string[], between: '' | '\n' = ''): StoredValue {
  let length = texts.length
  for (const text of texts) length += text.length
  if (length < worthwhile) return texts.join(between)
  const room = roomFor(length * mostBytes)
  let end = 0
  for (const text of texts) {
    end += room.write(text, end)
    if (between !== '') room[end++] = lineBreak
  }
  return zstdCompressSync(room.subarray(0, end - between.length), fast)
}

function roomFor(bytes: number): Buffer {
  if (bytes <= scratch.length) return scratch
  const larger = Buffer.allocUnsafeSlow(bytes)
  if (bytes <= largestKept) scratch = larger
  return larger
}

/** The text again, of a value that was stored compressed or as it was; undefined when its frame is damaged. */
export function decompress(value: Uint8Array): string | undefined {
  const isFrame = magic.every((byte, at) => value[at] === byte)
  try {
    const bytes = isFrame ? zstdDecompressSync(value) : value
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  } catch {
    return undefined
  }
}

import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { StoredValue } from './group-commit.ts'

/** Texts shorter than this, in UTF-16 units, gain less than the call costs. */
const worthwhile = 512
/** The fastest level that still finds what rows of a log repeat; what is not written need not be compacted either. */
const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** How a frame of zstd begins (RFC 8878, 3.1.1): no text that is stored here begins so. */
const magic = [0x28, 0xb5, 0x2f, 0xfd]

/** A text as it is stored: in a frame of zstd, unless it is short. */
export function compress(text: string): StoredValue {
  return text.length < worthwhile ? text : zstdCompressSync(text, fast)
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

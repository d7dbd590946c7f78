import { ByteReader } from './byte-reader.ts'

/** The bytes that Snappy compressed, as LevelDB does with blocks. Throws `RangeError` for what is not of its form. */
export function uncompress(compressed: Buffer): Buffer {
  const reader = new ByteReader(compressed)
  const length = reader.varint()
  // No format of Snappy's makes more than 64 bytes of three.
  if (length > compressed.length * 24) throw new RangeError('a length cannot be')
  const bytes = Buffer.alloc(length)
  let end = 0
  while (!reader.isOver) {
    const [tag = 0] = reader.take(1)
    if ((tag & 3) === 0) {
      const literal = reader.take(
        1 + (tag >> 2 < 60 ? tag >> 2 : reader.take((tag >> 2) - 59).readUIntLE(0, (tag >> 2) - 59)),
      )
      if (end + literal.length > length) throw new RangeError('there is more than there should be')
      end += literal.copy(bytes, end)
      continue
    }
    const [count, back] = copyOf(tag, reader)
    if (back === 0 || back > end) throw new RangeError('a copy reaches too far')
    // The bytes that are copied may be among those that the copy makes.
    for (let n = 0; n < count; n++, end++) bytes[end] = bytes[end - back]!
  }
  if (end !== length) throw new RangeError('there is less than there should be')
  return bytes
}

/** How many bytes, and from how far back. */
function copyOf(tag: number, reader: ByteReader): readonly [count: number, back: number] {
  if ((tag & 3) === 1) return [4 + ((tag >> 2) & 7), ((tag >> 5) << 8) | reader.take(1)[0]!]
  const bytes = (tag & 3) === 2 ? 2 : 4
  return [1 + (tag >> 2), reader.take(bytes).readUIntLE(0, bytes)]
}

/** CRC-32C (Castagnoli, RFC 3720 B.4), which Node has not, a byte at a time. */
const polynomial = 0x82f63b78
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ polynomial : sum >>> 1
  return sum
})

export function crc32c(...parts: readonly Uint8Array[]): number {
  let sum = 0xffffffff
  for (const bytes of parts)
    for (let at = 0; at < bytes.length; at++) sum = table[(sum ^ bytes[at]!) & 0xff]! ^ (sum >>> 8)
  return (sum ^ 0xffffffff) >>> 0
}

/** As LevelDB stores a sum: turned by 15 bits and moved, as sums of what holds sums are weak. */
export function maskedCrc32c(...parts: readonly Uint8Array[]): number {
  const sum = crc32c(...parts)
  return (((sum >>> 15) | (sum << 17)) + 0xa282ead8) >>> 0
}

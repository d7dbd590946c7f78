import { expect, test } from 'vitest'
import { crc32c, maskedCrc32c } from './crc32c.ts'

/** From RFC 3720, B.4, and the check value of the algorithm. */
test.each([
  [Buffer.alloc(0), 0],
  [Buffer.alloc(32), 0x8a9136aa],
  [Buffer.alloc(32, 0xff), 0x62a8ab43],
  [Buffer.from(Array.from({ length: 32 }, (_, n) => n)), 0x46dd794e],
  [Buffer.from('123456789'), 0xe3069283],
])('the sum of %s is %d, in parts as well', (bytes, sum) => {
  expect(crc32c(bytes)).toBe(sum)
  expect(crc32c(bytes.subarray(0, 5), bytes.subarray(5))).toBe(sum)
})

test('a masked sum is the sum, turned by 15 bits and moved', () => {
  expect(maskedCrc32c(Buffer.from('foo'))).toBe(0xfebe8a61)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteReader } from './byte-reader.ts'

/** Seven bits a byte, the lowest first. */
function varintOf(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varintOf(Math.floor(value / 128))]
}

test('numbers and bytes are read one after the other, as they were written', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.maxSafeNat(), fc.uint8Array())), (written) => {
      const bytes = written.flatMap(([number, some]) => [...varintOf(number), ...some])
      const reader = new ByteReader(Buffer.from(bytes))
      for (const [number, some] of written) {
        expect(reader.isOver).toBe(false)
        expect(reader.varint()).toBe(number)
        expect([...reader.take(some.length)]).toEqual([...some])
      }
      expect(reader.isOver).toBe(true)
    }),
  )
})

test('the longest number has eight bytes, and a longer one is refused', () => {
  const longest = new ByteReader(Buffer.from([...Array(7).fill(0xff), 0x0f]))
  expect(longest.varint()).toBe(Number.MAX_SAFE_INTEGER)
  const longer = new ByteReader(Buffer.alloc(9, 0xff))
  expect(() => longer.varint()).toThrow(RangeError)
  expect(longer.at).toBe(8)
})

test('nothing is read behind the end', () => {
  const reader = new ByteReader(Buffer.from([0x80]))
  expect(() => reader.varint()).toThrow(RangeError)
  const few = new ByteReader(Buffer.from([1, 2]))
  expect(() => few.take(3)).toThrow(RangeError)
  expect(few.take(2)).toEqual(Buffer.from([1, 2]))
  expect(few.isOver).toBe(true)
})

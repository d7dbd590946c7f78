import { expect, test } from 'vitest'
import { uncompress } from './snappy.ts'

const letters = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, n) => 97 + ((n * 7) % 26)))

/** A length as Snappy writes it: seven bits a byte. */
const lengthOf = (length: number): number[] =>
  length < 128 ? [length] : [(length & 127) | 128, ...lengthOf(length >> 7)]

const made = (length: number, ...parts: readonly (readonly number[] | Buffer)[]): Buffer =>
  Buffer.concat([Buffer.from(lengthOf(length)), ...parts.map((part) => Buffer.from(part))])

test.each<[number, number[]]>([
  [1, [0]],
  [60, [59 << 2]],
  [61, [60 << 2, 60]],
  [256, [60 << 2, 255]],
  [300, [61 << 2, 0x2b, 0x01]],
  [70_000, [62 << 2, 0x6f, 0x11, 0x01]],
])('bytes of which %d stand in one piece come back', (length, head) => {
  expect(uncompress(made(length, head, letters(length)))).toEqual(letters(length))
})

test.each<[string, number[], string]>([
  ['a short copy', [0b000_000_01, 3], 'abcabca'],
  ['the longest short copy', [0b000_111_01, 3], 'abcabcabcabcab'],
  ['a copy', [(4 << 2) | 2, 3, 0], 'abcabcab'],
  ['a copy with a long way back', [(4 << 2) | 3, 3, 0, 0, 0], 'abcabcab'],
  ['a copy of the last byte', [(63 << 2) | 2, 1, 0], `abc${'c'.repeat(64)}`],
])('%s repeats what stands before it, its own bytes too', (_, copy, text) => {
  expect(uncompress(made(text.length, [2 << 2], Buffer.from('abc'), copy)).toString()).toBe(text)
})

test('copies reach back as far as they say', () => {
  const far = letters(2000)
  const literal = [61 << 2, 0xcf, 0x07]
  // 1800 is 7 times 256 and 8.
  const short = [(7 << 5) | 1, 8]
  expect(uncompress(made(2004, literal, far, short)).subarray(2000)).toEqual(far.subarray(200, 204))
  const long = [(9 << 2) | 2, 0x08, 0x07]
  expect(uncompress(made(2010, literal, far, long)).subarray(2000)).toEqual(far.subarray(200, 210))
})

test('what compressed best is taken', () => {
  const copies = Array.from({ length: 20 }, () => [(63 << 2) | 2, 1, 0]).flat()
  expect(uncompress(made(1281, [0], Buffer.from('a'), copies)).toString()).toBe('a'.repeat(1281))
})

test.each<[string, Buffer]>([
  ['a copy from before the beginning', made(7, [2 << 2], Buffer.from('abc'), [1, 4])],
  ['a copy from nowhere', made(7, [2 << 2], Buffer.from('abc'), [1, 0])],
  ['a copy that is too long', made(6, [2 << 2], Buffer.from('abc'), [1, 3])],
  ['more than there should be', made(2, [2 << 2], Buffer.from('abc'))],
  ['less than there should be', made(4, [2 << 2], Buffer.from('abc'))],
  ['a piece that is cut short', made(3, [2 << 2], Buffer.from('ab'))],
  ['a copy that is cut short', made(7, [2 << 2], Buffer.from('abc'), [1])],
  ['a length that cannot be', made(2 ** 20, [0], Buffer.from('a'))],
  ['nothing', Buffer.alloc(0)],
])('%s is refused', (_, bytes) => {
  expect(() => uncompress(bytes)).toThrow(RangeError)
})

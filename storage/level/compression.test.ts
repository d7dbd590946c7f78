import { constants, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { compress, decompress } from './compression.ts'

/** As LevelDB gives it back. */
const onDisk = (value: string | Uint8Array): Uint8Array => Buffer.from(value)

test('texts come back joined, with line breaks between them or not', () => {
  const long = 'b\u00E9'.repeat(300)
  for (const texts of [[''], ['', ''], ['a', '\n', '\u{1F600}'], [long], ['', long, 'a\n', long]])
    for (const between of ['', '\n'] as const)
      expect(decompress(onDisk(compress(texts, between)))).toBe(texts.join(between))
})

test('texts and their line breaks are a frame of zstd from 512 UTF-16 units on, and as they are below', () => {
  const halves = ['x'.repeat(255), 'x'.repeat(254)]
  expect(compress(halves, '\n')).toBe(halves.join('\n'))
  expect(compress(halves)).toBe(halves.join(''))
  const [first = ''] = halves
  for (const texts of [[first, first], ['\u20AC'.repeat(511)]])
    expect([...(compress(texts, '\n') as Uint8Array).subarray(0, 4)]).toEqual([0x28, 0xb5, 0x2f, 0xfd])
})

test('texts are compressed at the fastest level', () => {
  const text = Array.from({ length: 500 }, (_, n) => `${(n * 7919) % 1000},${n % 13}`).join()
  const fastest = zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: 1 } })
  expect(compress([text])).toEqual(fastest)
  expect(zstdCompressSync(text)).not.toEqual(fastest)
})

test('a text of any size, and of characters of three bytes, comes back whole', () => {
  for (const units of [100_000, 300_000, 1_500_000, 300_000]) {
    const text = '\u20AC'.repeat(units)
    expect(decompress(onDisk(compress([text]))) === text).toBe(true)
  }
})

test('a text that only begins as a frame does is taken as it is, and a frame that is damaged is none', () => {
  for (const bytes of [[0x28], [0x28, 0xb5, 0x2f], [0x78, 0xb5, 0x2f, 0xfd]])
    expect(decompress(Buffer.from(bytes))).toBe(Buffer.from(bytes).toString())
  const frame = onDisk(compress(['x'.repeat(600)]))
  expect(decompress(frame.subarray(0, -1))).toBeUndefined()
})

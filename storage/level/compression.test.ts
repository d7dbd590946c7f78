import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compress, decompress } from './compression.ts'

/** As LevelDB gives it back. */
const onDisk = (value: string | Uint8Array): Uint8Array => Buffer.from(value)

const aText = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '\n', '\u{1F600}', '\u20AC') }),
  fc.string({ unit: fc.constantFrom('b', '\u00E9'), minLength: 400, maxLength: 700 }),
)

test('texts come back joined, with line breaks between them or not', () => {
  fc.assert(
    fc.property(
      fc.array(aText, { minLength: 1 }),
      fc.constantFrom('' as const, '\n' as const),
      (texts, between) => {
        expect(decompress(onDisk(compress(texts, between)))).toBe(texts.join(between))
      },
    ),
  )
})

test('texts and their line breaks are a frame of zstd from 512 UTF-16 units on, and as they are below', () => {
  const halves = ['x'.repeat(255), 'x'.repeat(254)]
  expect(compress(halves, '\n')).toBe(halves.join('\n'))
  expect(compress(halves)).toBe(halves.join(''))
  const [first = ''] = halves
  for (const texts of [[first, first], ['\u20AC'.repeat(511)]])
    expect([...(compress(texts, '\n') as Uint8Array).subarray(0, 4)]).toEqual([0x28, 0xb5, 0x2f, 0xfd])
})

test('a text of any size, and of characters of three bytes, comes back whole', () => {
  for (const units of [100_000, 300_000, 2_000_000, 300_000]) {
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

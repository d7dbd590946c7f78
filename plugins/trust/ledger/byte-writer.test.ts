import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteReader, ByteWriter } from './byte-writer.ts'

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('x'.repeat(20_000), '€'.repeat(20_000)))

test('what was written is read again, however little room there was', () => {
  const pieces = fc.array(fc.record({ number: fc.double({ noNaN: true }), count: fc.nat(2 ** 32 - 1), text }))
  fc.assert(
    fc.property(fc.nat(64), pieces, (size, all) => {
      const writer = new ByteWriter(size)
      for (const { number, count, text } of all) {
        writer.number(number)
        writer.size(count)
        writer.sized(text)
      }
      const reader = new ByteReader(writer.bytes)
      for (const { number, count, text } of all) {
        expect([reader.number(), reader.size()]).toEqual([number, count])
        const start = reader.text()
        expect(reader.bytes.toString('utf8', start, reader.at)).toBe(text)
      }
      expect(reader.isAtEnd).toBe(true)
    }),
  )
})

test('what was taken back is written over', () => {
  const writer = new ByteWriter(1)
  writer.ascii('one')
  const { length } = writer
  writer.copy(Buffer.from('[two]'), 1, 4)
  expect(writer.bytes.toString()).toBe('onetwo')
  writer.cut(length)
  writer.ascii('!')
  expect(writer.bytes.toString()).toBe('one!')
})

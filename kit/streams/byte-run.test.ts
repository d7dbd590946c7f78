import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteRun } from './byte-run.ts'

test('pieces that lie next to each other are one, in their memory, and no others are', () => {
  const cuts = fc.array(fc.nat({ max: 30 }), { minLength: 2, maxLength: 6 })
  fc.assert(
    fc.property(cuts, (places) => {
      const whole = Buffer.from(Array.from({ length: 30 }, (_, n) => n))
      const [first, ...others] = [...new Set([0, ...places, 30])].sort((a, b) => a - b)
      const ends = others
      let start = first!
      const pieces = ends.map((end) => {
        const piece = whole.subarray(start, end)
        start = end
        return piece
      })
      const run = new ByteRun(pieces[0]!)
      expect(run.bytes).toBe(pieces[0])
      for (const piece of pieces.slice(1)) expect(run.extend(piece)).toBe(true)
      expect(run.bytes.equals(whole)).toBe(true)
      expect(run.bytes.buffer).toBe(whole.buffer)
    }),
  )
})

test('bytes from elsewhere change nothing', () => {
  const whole = Buffer.from('abcdef')
  const run = new ByteRun(whole.subarray(0, 2))
  const apart = Buffer.from(new ArrayBuffer(16), whole.byteOffset % 8, 2)
  const copied = Buffer.from(new ArrayBuffer(whole.buffer.byteLength), whole.byteOffset + 2, 2)
  for (const other of [whole.subarray(3, 5), whole.subarray(0, 2), whole.subarray(1, 3), apart, copied])
    expect(run.extend(other)).toBe(false)
  expect(run.bytes.toString()).toBe('ab')
  expect(run.extend(whole.subarray(2, 4))).toBe(true)
  expect(run.extend(whole.subarray(2, 4))).toBe(false)
  expect(run.bytes.toString()).toBe('abcd')
})

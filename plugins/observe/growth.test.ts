import fc from 'fast-check'
import { expect, test } from 'vitest'
import { growth } from './growth.ts'

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

test('the growth is that of the JSON, whatever was changed', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
      expect(growth(before, after)).toBe(bytesOf(after) - bytesOf(before))
      expect(growth({ kept: after, of: [before, after] }, { kept: after, of: [after], to: before })).toBe(
        bytesOf({ kept: after, of: [after], to: before }) - bytesOf({ kept: after, of: [before, after] }),
      )
    }),
  )
})

test.each([
  [{ a: 1, b: undefined }, { a: 1 }, 0],
  [{ a: undefined }, { a: 'ü' }, 10 - 2],
  [[1, undefined], [1], 3 - 8],
  [[], [undefined], 4],
  [{}, { toString: false }, 16],
])('what JSON leaves out takes no bytes: %j to %j', (before, after, bytes) => {
  expect(growth(before, after)).toBe(bytes)
})

test('a long conversation that a message is put into is not written again', () => {
  const messages = Array.from({ length: 1000 }, (_, i) => ({
    role: 'user',
    toJSON: () => expect.unreachable(`message ${i} was written`),
  }))
  expect(growth({ messages }, { messages: [{ role: 'system' }, ...messages] })).toBe(
    bytesOf({ role: 'system' }) + 1,
  )
})

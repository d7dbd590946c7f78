import fc from 'fast-check'
import { expect, test } from 'vitest'
import { apart, type BodySlot, decodeBodies, decodeLines, encodeBodies, encodeLines } from './chunk.ts'

const aSlot: fc.Arbitrary<BodySlot> = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '\n', ',', '*', '-', '1', '\u{1F600}') }),
  fc.constant(undefined),
  fc.constant(apart),
)

test('bodies come back as they went into a chunk', () => {
  fc.assert(
    fc.property(fc.array(aSlot, { minLength: 1 }), (slots) => {
      const stored = encodeBodies(slots)
      const given = slots.filter((slot) => slot !== undefined).length
      expect(decodeBodies(onDisk(stored))).toEqual(given === 0 ? [] : slots)
    }),
  )
})

test('a chunk without bodies stores none', () => {
  expect(encodeBodies([undefined, undefined])).toBeUndefined()
  expect(decodeBodies(undefined)).toEqual([])
})

test('lines come back as they went into a chunk, long ones and those of erased rows included', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.string({ maxLength: 2000 }).map((text) => JSON.stringify(text)),
          fc.constant(''),
        ),
        { minLength: 1 },
      ),
      (lines) => {
        expect(decodeLines(onDisk(encodeLines(lines)))).toEqual(lines)
      },
    ),
  )
})

test('a long chunk takes less on disk than its text, and has no rows and no bodies when it is damaged', () => {
  const lines = Array.from({ length: 32 }, (_, n) =>
    JSON.stringify({ id: n, project: 'default', status: 'ok' }),
  )
  const stored = onDisk(encodeLines(lines))!
  expect(stored.length).toBeLessThan(lines.join().length / 3)
  stored[stored.length >> 1]! ^= 0xff
  expect(decodeLines(stored.subarray(0, -3))).toEqual([])
  expect(decodeBodies(stored.subarray(0, -3))).toEqual([])
})

/** As LevelDB gives it back. */
const onDisk = (value: string | Uint8Array | undefined): Uint8Array | undefined =>
  value === undefined ? undefined : Buffer.from(value)

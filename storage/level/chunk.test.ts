import fc from 'fast-check'
import { expect, test } from 'vitest'
import { apart, type BodySlot, countBodies, decodeBodies, encodeBodies } from './chunk.ts'

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
      expect(countBodies(stored)).toBe(given)
      expect(decodeBodies(stored)).toEqual(given === 0 ? [] : slots)
    }),
  )
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FieldValue } from '../index.ts'
import { encodePostings, findPosting, type PostingMap } from './postings.ts'

const aValue: fc.Arbitrary<FieldValue> = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '"', '\0', '\n', ' ', '1', 'é') }),
  fc.integer(),
  fc.double({ noNaN: true }).map((n) => n + 0),
  fc.boolean(),
  fc.constantFrom('true', '1', 'Infinity'),
)
const rows = fc.uniqueArray(fc.integer({ min: 0, max: 65_535 }), { minLength: 1 })

test('every list comes back under its value, and under no other', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(aValue, rows)), aValue, (lists, other) => {
      const postings: PostingMap = new Map(
        lists.map(([value, list]) => [value, list.toSorted((a, b) => a - b)]),
      )
      const stored = encodePostings(postings)
      for (const [value, list] of postings) {
        const posting = findPosting(stored, value)
        expect(posting?.count).toBe(list.length)
        expect(Array.from(posting?.rows() ?? [])).toEqual(list)
      }
      expect(findPosting(stored, other) === undefined).toBe(!postings.has(other))
    }),
    {
      examples: [
        [
          [
            [Number.POSITIVE_INFINITY, [1]],
            [Number.NEGATIVE_INFINITY, [2]],
          ],
          'null',
        ],
      ],
    },
  )
})

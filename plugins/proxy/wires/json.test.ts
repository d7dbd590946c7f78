import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/suite/runs.ts'
import { GrowingJson } from './json.ts'

/** Objects and lists, as they are and broken. */
const text = fc
  .tuple(
    fc.oneof(
      fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
      fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 3 }),
    ),
    fc.constantFrom('', '', '', ' ', '\n', '}', '"', '{}', 'x'),
    fc.constantFrom('', '', '', ' ', 'x', ']'),
  )
  .map(([value, after, before]) => before + JSON.stringify(value) + after)

function isJson(json: string): boolean {
  try {
    JSON.parse(json)
    return true
  } catch {
    return false
  }
}

test('JSON that grows is complete where all of it so far can be parsed, wherever it is cut', () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(5), { minLength: 1 }), (json, sizes) => {
      const growing = new GrowingJson()
      for (let at = 0, n = 0; at < json.length; n += 1) {
        const size = sizes[n % sizes.length]! + 1
        growing.add(json.slice(at, at + size))
        at += size
        expect(growing.text).toBe(json.slice(0, at))
        expect(growing.isComplete).toBe(isJson(growing.text))
      }
    }),
    runs(1000),
  )
})

test.each(['{"a": "}\\"} [", "b": [{}, 1]} ', '{a}{}{}{}{}{}', '}{}{}{}'])(
  '%s is parsed once at the most, whatever pieces it comes in',
  (json) => {
    const { parse } = JSON
    let parsed = 0
    JSON.parse = (...about: Parameters<typeof parse>) => {
      parsed += 1
      return parse(...about)
    }
    const growing = new GrowingJson()
    let complete = 0
    for (const sign of json) {
      growing.add(sign)
      if (growing.isComplete) complete += 1
    }
    JSON.parse = parse
    expect(parsed).toBeLessThanOrEqual(1)
    expect(complete > 0).toBe(isJson(json))
  },
)

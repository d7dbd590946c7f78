import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutJson } from './cut-json.ts'

const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()))

/** Whether nothing is in a value that is not in another one, at the same place. */
function isPartOf(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null) return part === whole
  if (typeof whole !== 'object' || whole === null || Array.isArray(part) !== Array.isArray(whole))
    return false
  return Object.entries(part).every(
    ([key, one]) => Object.hasOwn(whole, key) && isPartOf(one, (whole as Record<string, unknown>)[key]),
  )
}

test('wherever a text is cut, its complete part says nothing that the text did not', () => {
  fc.assert(
    fc.property(value, fc.nat(), fc.boolean(), (wanted, at, spaced) => {
      const text = JSON.stringify(wanted, null, spaced ? 2 : 0)
      const clean: unknown = JSON.parse(text)
      const { complete } = cutJson(text.slice(0, 1 + (at % text.length)))
      expect(isPartOf(JSON.parse(complete), clean)).toBe(true)
    }),
  )
})

test('a whole text is complete and has no gap', () => {
  fc.assert(
    fc.property(value, (wanted) => {
      const text = JSON.stringify(wanted)
      expect(cutJson(text)).toMatchObject({ hasGap: false, isOpen: false, endsInText: false, complete: text })
    }),
  )
})

test('its depth is that of its deepest bracket', () => {
  expect(['1', '[]', '{"a":[[1],[]]}', '[[', '[] [[1]] {'].map((text) => cutJson(text).depth)).toEqual([
    0, 1, 3, 2, 2,
  ])
})

test.each([
  ['{"a":', true, '{}'],
  ['{"a":1,"b"', true, '{"a":1}'],
  ['{"a":"hal', true, '{}'],
  ['{"a":tru', true, '{}'],
  ['{"a":true', false, '{"a":true}'],
  ['{"a":{"b":1},"c":', true, '{"a":{"b":1}}'],
  ['{"n":12', false, '{}'],
  ['[1, 2,', false, '[1, 2]'],
  ['{"a":"x\\"', true, '{}'],
  ['{"a":}', true, '{"a":}'],
  ['[1,,2]', true, '[1,,2]'],
  ['{name: "Ada", age: 36,}', false, '{name: "Ada", age: 36,}'],
  ["{'a': 'b' 'c': 1}", false, "{'a': 'b' 'c': 1}"],
])('%s', (text, hasGap, complete) => {
  expect(cutJson(text)).toMatchObject({ hasGap, complete })
})

test('text of any kind never throws', () => {
  fc.assert(fc.property(fc.string(), (text) => void cutJson(text)))
  cutJson(`{"a":"${'\\"'.repeat(200_000)}`)
  cutJson('['.repeat(200_000))
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '#kit'
import { putInOrder } from './canonical-bytes.ts'

/** The text in its order between other bytes, which stay; undefined where it is refused. */
function ordered(text: string): string | undefined {
  const bytes = Buffer.from(`[${text}]`)
  const isOrdered = putInOrder(bytes, 1, bytes.length - 1)
  const after = bytes.toString()
  expect([after[0], after.at(-1)]).toEqual(['[', ']'])
  return isOrdered ? after.slice(1, -1) : undefined
}

/** What `text` says in canonical form; undefined where it is no JSON. */
function expected(text: string): string | undefined {
  try {
    return canonicalJson(JSON.parse(text))
  } catch {
    return undefined
  }
}

const json = fc.jsonValue({ noUnicodeString: false, maxDepth: 6 }).map((value) => JSON.stringify(value))

test('JSON that is accepted has its canonical form', () => {
  fc.assert(
    fc.property(json, (text) => {
      const made = ordered(text)
      if (made !== undefined) expect(made).toBe(expected(text))
    }),
  )
})

test('text with a damage is accepted only if it still is JSON', () => {
  const damaged = fc
    .tuple(json, fc.nat(), fc.nat(3), fc.constantFrom(...'{}[]":,.-+0123456789eEtfn\\u \u0001é'))
    .map(([text, at, gone, put]) => {
      const from = at % (text.length + 1)
      return text.slice(0, from) + put + text.slice(from + gone)
    })
  fc.assert(
    fc.property(damaged, (text) => {
      const made = ordered(text)
      if (made !== undefined) expect(made).toBe(expected(text.toWellFormed()))
    }),
    { numRuns: 2000 },
  )
})

test('what is refused still says the same', () => {
  fc.assert(
    fc.property(json, (text) => {
      const bytes = Buffer.from(`${text.slice(0, -1)},"z":1,"a":"\\u0041"}`)
      const before = expected(bytes.toString())
      if (text.length < 3 || !text.startsWith('{')) return
      putInOrder(bytes, 0, bytes.length)
      expect(expected(bytes.toString())).toBe(before)
    }),
  )
})

test.each([
  [
    '{"model":"m","messages":[{"role":"user","content":"a\\n\\"é\\""}],"temperature":0.5}',
    '{"messages":[{"content":"a\\n\\"é\\"","role":"user"}],"model":"m","temperature":0.5}',
  ],
  [
    '{"b":{"d":1,"c":[]},"a":[{"y":{},"x":null}],"ab":true}',
    '{"a":[{"x":null,"y":{}}],"ab":true,"b":{"c":[],"d":1}}',
  ],
  ['{"a b":1,"a":2,"a!":3}', '{"a":2,"a b":1,"a!":3}'],
  [
    '[0,-1,123456789012345,-0.25,0.000001,12345678901234.5]',
    '[0,-1,123456789012345,-0.25,0.000001,12345678901234.5]',
  ],
])('the usual form is put in order: %s', (text, result) => {
  expect(ordered(text)).toBe(result)
  expect(expected(text)).toBe(result)
})

test.each([
  ['a blank', '{"a": 1}'],
  ['an escape that is not needed', '"\\/"'],
  ['a character as its number', '"\\u00e9"'],
  ['an escaped name', '{"\\n":1}'],
  ['a name that is not ASCII', '{"é":1}'],
  ['an exponent', '1e3'],
  ['an exponent behind a point', '1.5e3'],
  ['a zero behind the point', '1.50'],
  ['minus zero', '-0'],
  ['more digits than a double has', '1234567890123456'],
  ['a number that has an exponent in canonical form', '0.0000001'],
  ['a name that is there twice', '{"b":1,"a":1,"b":2}'],
  ['many levels', '['.repeat(40) + ']'.repeat(40)],
  ['a number that begins with zero', '01'],
  ['a control character', '"\u0001"'],
  ['no end', '{"a":1'],
  ['more behind its end', '1,2'],
  ['nothing', ''],
  ['half a word', 'tru'],
])('another form is left to others: %s', (_, text) => {
  expect(ordered(text)).toBeUndefined()
})

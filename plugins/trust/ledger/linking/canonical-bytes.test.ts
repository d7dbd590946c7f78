import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '#kit'
import { canonicalBytes } from './canonical-bytes.ts'

/** The text in its order, which stands between other bytes; undefined where it is refused. The bytes do not change. */
function ordered(text: string): string | undefined {
  const bytes = Buffer.from(`[${text}]`)
  const made = canonicalBytes(bytes, 1, bytes.length - 1)?.toString()
  expect(bytes.toString()).toBe(Buffer.from(`[${text}]`).toString())
  return made
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

test('objects with many fields, and bodies that are too large for the memory that is kept, are put in order', () => {
  const names = Array.from({ length: 300 }, (_, n) => `n${(n * 7919) % 1000}`)
  const wide = Object.fromEntries([...new Set(names)].map((name, n) => [name, { z: n, a: [{ d: 1, c: n }] }]))
  const long = Object.fromEntries(
    Object.keys(wide)
      .slice(0, 20)
      .map((name) => [name, { y: 'x'.repeat(1000), b: wide }]),
  )
  for (const value of [wide, { ...long, a: 1 }]) {
    const text = JSON.stringify(value)
    expect(ordered(text)).toBe(expected(text))
  }
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
  ['a word with a sign', '-false'],
])('another form is left to others: %s', (_, text) => {
  expect(ordered(text)).toBeUndefined()
})

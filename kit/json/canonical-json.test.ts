import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { canonicalJson, repairedJson } from './canonical-json.ts'

test('the example of RFC 8785, section 3.2.2', () => {
  const given = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`
  expect(canonicalJson(JSON.parse(given))).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  )
})

test('names are in the order of their UTF-16 code units, section 3.2.3', () => {
  const given = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
  }
  expect(Object.values(JSON.parse(canonicalJson(given).replace('"1"', '"one"')))).toEqual([
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ])
})

test.each([
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
])('the number %s is written %s, appendix B', (bits, text) => {
  expect(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text)
})

test.each([
  ['NaN', Number.NaN],
  ['Infinity', { n: [Number.POSITIVE_INFINITY] }],
  ['half a character', '\ud83d'],
  ['half a character in a name', { '\udc00': 1 }],
  ['undefined', undefined],
  ['undefined in a list', [undefined]],
  ['a hole in a list', Array(1)],
  ['a big integer', 1n],
  ['a date', new Date(0)],
  ['a map', new Map()],
])('%s has no canonical form', (_, value) => {
  expect(() => canonicalJson(value)).toThrow(TypeError)
})

test('equal values have one text, which means them, wherever their fields stand', () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, field]) => [name, shuffled(field)]),
    )
  }
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = canonicalJson(value)
      expect(canonicalJson(shuffled(value))).toBe(text)
      expect(canonicalJson(JSON.parse(text))).toBe(text)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
    runs(100),
  )
})

test('fields that are undefined are left out', () => {
  expect(canonicalJson({ b: undefined, a: { c: undefined } })).toBe('{"a":{}}')
})

test('the order of names is right however many different objects came before', () => {
  const plain = (value: object): string =>
    `{${Object.keys(value)
      .sort()
      .map((name) => `${JSON.stringify(name)}:${JSON.stringify((value as Record<string, unknown>)[name])}`)
      .join()}}`
  const objects = Array.from({ length: 3000 }, (_, n) => ({
    [`n${(n * 7919) % 3001}`]: n,
    b: 1,
    [n % 2 ? 'a' : 'c']: 2,
    ['x'.repeat(n % 70)]: 3,
  }))
  for (const value of [...objects, ...objects]) expect(canonicalJson(value)).toBe(plain(value))
})

test('what has no canonical JSON is repaired where that is so, and all else is as it is', () => {
  const parsed = JSON.parse(String.raw`{"b":["\ud800 half",1e999],"a\udc00":{"__proto__":"\ud83d\ude00"}}`)
  expect(repairedJson(parsed)).toBe('{"a\ufffd":{"__proto__":"😀"},"b":["\ufffd half",null]}')
  expect(repairedJson({ b: 1, a: 'whole' })).toBe('{"a":"whole","b":1}')
})

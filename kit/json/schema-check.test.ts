import { expect, test } from 'vitest'
import type { JsonObject } from '../canonical/forms.ts'
import { schemaCheck } from './schema-check.ts'

test('a value is checked by its schema, and a schema that is none is refused with its field', () => {
  const check = schemaCheck({ type: 'object', required: ['a'], properties: { a: { pattern: '^(x+)+$' } } })
  expect(check({ a: 'xx' })).toEqual([])
  expect(check({ a: `${'x'.repeat(50_000)}!` })).toHaveLength(1)
  expect(check({})).toEqual(["/ must have required property 'a'"])
  expect(() => schemaCheck({ type: 'nothing' }, { param: 'response_format' })).toThrow(
    expect.objectContaining({ status: 400, param: 'response_format' }),
  )
})

/** Of each definition all of the next one, twice. */
const doubling = (definitions: number): JsonObject => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: definitions + 1 }, (_, n) => [
      `d${n}`,
      n === definitions
        ? { type: 'object' }
        : { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
    ]),
  ),
})

test.each<[string, JsonObject, unknown]>([
  ['references', doubling(60), {}],
  ['comparisons', { uniqueItems: true }, Array.from({ length: 60_000 }, (_, n) => ({ a: [n] }))],
])('a check that takes too long by its %s is refused, and others go on', (_, schema, value) => {
  expect(() => schemaCheck(schema)(value)).toThrow(
    expect.objectContaining({ status: 400, message: expect.stringContaining('longer than 2000 ms') }),
  )
  expect(schemaCheck(doubling(6))({})).toEqual([])
  expect(schemaCheck({ uniqueItems: true })([{ a: 1 }, { a: 1 }])).toHaveLength(1)
})

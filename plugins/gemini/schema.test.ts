import { expect, it } from 'vitest'
import type { JsonObject } from '#kernel'
import { narrowed } from './schema.ts'

function narrow(schema: JsonObject) {
  const dropped: string[] = []
  return { schema: narrowed(schema, (keyword) => dropped.push(keyword)), dropped }
}

it.each<[what: string, schema: JsonObject, expected: JsonObject, dropped: string[]]>([
  [
    'references are put in place',
    {
      type: 'object',
      properties: { a: { $ref: '#/$defs/A', description: 'one' } },
      $defs: { A: { type: 'string', enum: ['x'] } },
    },
    { type: 'OBJECT', properties: { a: { type: 'STRING', enum: ['x'], description: 'one' } } },
    [],
  ],
  [
    'a reference into itself ends',
    {
      $ref: '#/$defs/Node',
      $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } } },
    },
    { type: 'OBJECT', properties: { next: { type: 'OBJECT' } } },
    ['$ref'],
  ],
  ['types with null are nullable', { type: ['string', 'null'] }, { type: 'STRING', nullable: true }, []],
  [
    'alternatives with null are nullable',
    { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    { type: 'INTEGER', nullable: true },
    [],
  ],
  [
    'one of several becomes any of them',
    { oneOf: [{ type: 'string' }, { type: 'number' }] },
    { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] },
    [],
  ],
  [
    'several types become alternatives',
    { type: ['string', 'number'] },
    { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] },
    [],
  ],
  ['a constant is an enumeration', { const: 'x' }, { type: 'STRING', enum: ['x'] }, []],
  ['numbers are not enumerated', { type: 'integer', enum: [1, 2] }, { type: 'INTEGER' }, ['enum']],
  [
    'all of several are one',
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'boolean' } }, required: ['b'] },
      ],
    },
    {
      type: 'OBJECT',
      properties: { a: { type: 'STRING' }, b: { type: 'BOOLEAN' } },
      required: ['b', 'a'],
    },
    [],
  ],
  [
    'what is not known is dropped, and told',
    {
      type: 'object',
      properties: { a: { type: 'string', format: 'email' }, additionalProperties: { type: 'string' } },
      additionalProperties: false,
      $schema: 'x',
    },
    { type: 'OBJECT', properties: { a: { type: 'STRING' }, additionalProperties: { type: 'STRING' } } },
    ['additionalProperties', 'format'],
  ],
  [
    'items are narrowed',
    { type: 'array', items: { type: 'string', format: 'date-time' }, minItems: 1, uniqueItems: true },
    { type: 'ARRAY', items: { type: 'STRING', format: 'date-time' }, minItems: 1 },
    ['uniqueItems'],
  ],
])('%s', (_, schema, expected, dropped) => {
  const before = structuredClone(schema)
  expect(narrow(schema)).toEqual({ schema: expected, dropped })
  expect(schema).toEqual(before)
})

/** Definitions of which each names the next one twice: followed one by one they would be more than any time allows. */
const doubling = (definitions: number): JsonObject => ({
  type: 'object',
  properties: { a: { $ref: '#/$defs/d0' } },
  $defs: Object.fromEntries(
    Array.from({ length: definitions }, (_, n) => [
      `d${n}`,
      {
        type: 'object',
        properties:
          n + 1 < definitions
            ? { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } }
            : { a: { type: 'string' } },
      },
    ]),
  ),
})

it('puts references in place until the schema is large enough', () => {
  const { schema, dropped } = narrow(doubling(60))
  expect(new Set(dropped)).toEqual(new Set(['$ref']))
  expect(JSON.stringify(schema).length).toBeLessThan(2_000_000)
  expect(narrow(doubling(8)).dropped).toEqual([])
})

it.each<[string, JsonObject]>([
  ['itself', { b: { allOf: [{ $ref: '#/$defs/b' }] } }],
  ['one that has it', { b: { allOf: [{ $ref: '#/$defs/c' }] }, c: { allOf: [{ $ref: '#/$defs/b' }] } }],
])('what has all of %s ends', (_, $defs) => {
  expect(narrow({ allOf: [{ $ref: '#/$defs/b' }], $defs }).dropped).toContain('$ref')
})

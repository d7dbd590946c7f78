import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../kit/canonical/forms.ts'
import { closedSchema } from './closed-schema.ts'

const closed: JsonObject = {
  type: 'object',
  properties: { a: { type: 'string', enum: ['x', 'y'] }, b: { $ref: '#/$defs/b' } },
  required: ['a'],
  additionalProperties: false,
  $defs: { b: { type: 'array', items: { type: 'integer' }, minItems: 1 } },
}

test('a schema that is closed stays the very same', () => {
  const { schema, changes } = closedSchema(closed)!
  expect(schema).toBe(closed)
  expect(changes).toEqual([])
})

test('objects are closed, and rules that decoders do not know are told in descriptions', () => {
  const inner = { type: 'object', properties: { n: { type: 'number', minimum: 1, description: 'N' } } }
  expect(
    closedSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        list: { type: 'array', items: inner, minItems: 3 },
        one: { oneOf: [{ type: 'string', format: 'email' }, { type: 'null' }] },
        odd: { type: 'string', format: 'phone', pattern: '^\\+' },
      },
    }),
  ).toEqual({
    schema: {
      type: 'object',
      properties: {
        list: {
          type: 'array',
          items: {
            type: 'object',
            properties: { n: { type: 'number', description: 'N\nminimum: 1' } },
            additionalProperties: false,
          },
          description: 'minItems: 3',
        },
        one: { anyOf: [{ type: 'string', format: 'email' }, { type: 'null' }] },
        odd: { type: 'string', description: 'format: "phone"\npattern: "^\\\\+"' },
      },
      additionalProperties: false,
    },
    changes: [
      '-$schema',
      'minItems->description',
      'minimum->description',
      '+additionalProperties',
      'oneOf->anyOf',
      'format->description',
      'pattern->description',
    ],
  })
})

describe('a schema cannot be closed', () => {
  test.each<[string, JsonObject]>([
    ['that takes any property', { ...closed, additionalProperties: true }],
    ['that takes any property of a kind', { ...closed, additionalProperties: { type: 'string' } }],
    ['that takes properties by pattern', { ...closed, patternProperties: { '^x': {} } }],
    ['that takes any object', { type: 'object' }],
    ['that takes anything', {}],
    ['that takes anything in a part', { type: 'object', properties: { a: {} } }],
    ['that contains itself', { ...closed, properties: { a: { $ref: '#' } } }],
    [
      'that contains itself further in',
      {
        ...closed,
        properties: { a: { $ref: '#/$defs/a' } },
        $defs: { a: { type: 'array', items: { $ref: '#/$defs/a' } } },
      },
    ],
    ['whose reference leads nowhere', { ...closed, properties: { a: { $ref: 'https://x.test/a' } } }],
  ])('%s', (_, schema) => {
    expect(closedSchema(schema)).toBeUndefined()
  })
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

test('references are followed once, however many lead to a place', () => {
  expect(closedSchema(doubling(60))).toBeDefined()
  const circle = doubling(60)
  const { d59 } = circle.$defs as JsonObject
  ;(d59 as JsonObject).properties = { a: { $ref: '#/$defs/d7' } }
  expect(closedSchema(circle)).toBeUndefined()
})

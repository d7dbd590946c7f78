import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { sampleOf } from './sample.ts'

const ajv = new Ajv2020({ strict: false })
formats.default(ajv)

const leaf = fc.oneof(
  fc.record({ type: fc.constant('string'), minLength: fc.nat(20) }),
  fc.record({ type: fc.constant('string'), maxLength: fc.nat(3) }),
  fc.record({
    type: fc.constant('string'),
    format: fc.constantFrom('date-time', 'date', 'email', 'uuid', 'uri'),
  }),
  fc.record({ type: fc.constantFrom('integer', 'number'), minimum: fc.integer({ min: -50, max: 50 }) }),
  fc.record({ type: fc.constantFrom('integer', 'number'), maximum: fc.integer({ min: -50, max: 50 }) }),
  fc.record({ type: fc.constant('integer'), exclusiveMinimum: fc.integer({ min: -50, max: 50 }) }),
  fc.record({ type: fc.constant('number'), multipleOf: fc.constantFrom(0.5, 3, 10) }),
  fc.record({
    enum: fc.array(
      fc.jsonValue().filter((value) => value !== null),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  fc.record({ type: fc.constantFrom('boolean', 'null', ['null', 'string'], ['integer', 'null']) }),
  fc.constant({ $ref: '#/$defs/self' }),
)
const { schema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(3) }),
    fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf })),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('schema')).chain((properties) =>
      fc.subarray(Object.keys(properties)).map((required) => ({
        type: 'object',
        properties,
        required,
        additionalProperties: false,
      })),
    ),
  ),
}))

test('a sample fits its schema', () => {
  const $defs = {
    self: {
      type: 'object',
      properties: { name: { type: 'string' }, next: { $ref: '#/$defs/self' } },
      required: ['name'],
    },
  }
  fc.assert(
    fc.property(schema, (part) => {
      const whole = { ...part, $defs }
      const sample = sampleOf(whole, 'response_format')
      expect(ajv.validate(whole, sample), `${JSON.stringify(sample)}: ${ajv.errorsText()}`).toBe(true)
    }),
    runs(500),
  )
})

test('what requires itself comes to an end', () => {
  const schema = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] }
  expect(JSON.stringify(sampleOf(schema, 'response_format'))).toContain('null')
})

test.each<[string, object]>([
  ['lists of lists', { type: 'array', minItems: 900, items: { type: 'array', minItems: 900 } }],
  ['texts', { type: 'array', minItems: 900, items: { type: 'string', minLength: 1000 } }],
  ['a value', { type: 'array', minItems: 900, items: { const: 'x'.repeat(1000) } }],
])('more than fits of %s is refused', (_, schema) => {
  expect(() => sampleOf(schema, 'tools')).toThrow(
    expect.objectContaining({
      status: 400,
      param: 'tools',
      message: expect.stringContaining('larger answer'),
    }),
  )
})

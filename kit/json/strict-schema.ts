import type { Json, JsonObject } from '../canonical/forms.ts'

/** The keywords that OpenAI's strict schemas are written with. */
const known = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'enum', 'const'],
  ...['title', 'description', '$ref', '$defs'],
])

/**
 * Whether every object of a schema lists its properties, requires all of them and allows no others, and the schema says nothing
 * else: a service accepts such a schema as strict, and would refuse others.
 */
export const isStrictSchema = (schema: JsonObject): boolean => schema.type === 'object' && isStrict(schema)

function isStrict(schema: Json | undefined): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false
  if (Object.keys(schema).some((keyword) => !known.has(keyword))) return false
  const { properties, required, additionalProperties, items, anyOf, $defs } = schema
  const parts = [properties, $defs].flatMap((named) => (isObject(named) ? Object.values(named) : []))
  const all = [...parts, ...(Array.isArray(anyOf) ? anyOf : []), ...(items === undefined ? [] : [items])]
  if (!all.every(isStrict)) return false
  if (schema.type !== 'object' && properties === undefined) return saysSomething(schema)
  const names = isObject(properties) ? Object.keys(properties) : []
  return additionalProperties === false && names.every((name) => isAmong(required, name))
}

const saysSomething = ({ type, $ref, anyOf, enum: values, const: value }: JsonObject): boolean =>
  [type, $ref, anyOf, values, value].some((said) => said !== undefined)

const isAmong = (list: Json | undefined, name: string): boolean => Array.isArray(list) && list.includes(name)

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

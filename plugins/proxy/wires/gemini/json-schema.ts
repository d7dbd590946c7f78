import type { Json, JsonObject } from '#kernel'

/** Numbers that the form writes as texts. */
const counts = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'])

/** A schema of this wire, which is a part of OpenAPI's, as JSON Schema. */
export function jsonSchemaOf(schema: JsonObject): JsonObject {
  const made: JsonObject = {}
  let isNullable = false
  for (const [field, value] of Object.entries(schema)) {
    if (value === null) continue
    if (field === 'nullable') isNullable = value === true
    else if (field === 'propertyOrdering') continue
    else if (field === 'type' && typeof value === 'string') {
      if (value !== 'TYPE_UNSPECIFIED') made.type = value.toLowerCase()
    } else if (field === 'format' && value === 'enum') continue
    else if (field === 'example') made.examples = [value]
    else if (field === 'properties') made.properties = eachOf(value)
    else if (field === 'items') made.items = inner(value)
    else if (field === 'anyOf' && Array.isArray(value)) made.anyOf = value.map(inner)
    else if (counts.has(field)) made[field] = Number(value)
    else made[field] = value
  }
  return isNullable ? nullable(made) : made
}

function nullable({ enum: values, ...schema }: JsonObject): JsonObject {
  const others: JsonObject = Array.isArray(values) ? { enum: [...values, null] } : {}
  if (typeof schema.type === 'string') return { ...schema, ...others, type: [schema.type, 'null'] }
  if (Array.isArray(schema.anyOf)) return { ...schema, ...others, anyOf: [...schema.anyOf, { type: 'null' }] }
  return { ...schema, ...others }
}

const inner = (value: Json): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? jsonSchemaOf(value) : value

const eachOf = (value: Json): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, inner(schema)]))
    : value

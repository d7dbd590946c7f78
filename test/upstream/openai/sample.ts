type Schema = Readonly<Record<string, unknown>>

/** The smallest value that satisfies a JSON Schema of the plain sort used for tools and structured outputs. */
export function sample(schema: unknown): unknown {
  if (!isObject(schema)) return null
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (Array.isArray(schema.anyOf)) return sample(schema.anyOf[0])
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (type) {
    case 'string':
      return 'sample'
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 1
    case 'boolean':
      return true
    case 'array':
      return [sample(schema.items)]
    case 'object':
      return sampleObject(schema)
    default:
      return isObject(schema.properties) ? sampleObject(schema) : null
  }
}

function sampleObject(schema: Schema): Record<string, unknown> {
  const properties = isObject(schema.properties) ? schema.properties : {}
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, sample(property)]))
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}

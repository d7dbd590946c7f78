type Schema = Readonly<Record<string, unknown>>

const texts: Readonly<Record<string, string>> = {
  'date-time': '2000-01-01T00:00:00Z',
  date: '2000-01-01',
  time: '00:00:00Z',
  duration: 'PT1H',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

/** How deep values are made for schemas that hold themselves; beyond it, only what is required. */
const deepest = 6
/** The depth at which a schema counts as requiring itself, so that it has no value. */
const bottomless = 40

/** The plainest value that fits a JSON Schema: the same for the same schema. Patterns are not followed. */
export function sampleOf(schema: unknown, text = 'text'): unknown {
  return sampled(schema, { root: schema, text, depth: 0 })
}

interface Place {
  readonly root: unknown
  readonly text: string
  readonly depth: number
}

function sampled(schema: unknown, place: Place): unknown {
  if (!isSchema(schema)) return {}
  if (place.depth > bottomless) return null
  const given = schema.const ?? schema.default ?? first(schema.enum) ?? first(schema.examples)
  if (given !== undefined) return given
  if (typeof schema.$ref === 'string') return sampled(referred(schema.$ref, place.root), deeper(place))
  const either = first(schema.anyOf) ?? first(schema.oneOf)
  if (either !== undefined)
    return sampled({ ...schema, anyOf: undefined, oneOf: undefined, ...(isSchema(either) && either) }, place)
  if (Array.isArray(schema.allOf))
    return Object.assign({}, ...schema.allOf.map((part) => sampled(part, place)))
  switch (typeOf(schema)) {
    case 'object':
      return objectOf(schema, deeper(place))
    case 'array':
      return Array.from({ length: amount(schema.minItems) }, () => sampled(schema.items, deeper(place)))
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return textOf(schema, place.text)
  }
}

function objectOf({ properties, required }: Schema, place: Place): object {
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  const fields = Object.entries(isSchema(properties) ? properties : {})
  const made = fields.filter(([name]) => place.depth < deepest || needed.includes(name))
  return Object.fromEntries(made.map(([name, schema]) => [name, sampled(schema, place)]))
}

function numberOf({ minimum, exclusiveMinimum, maximum, multipleOf }: Schema): number {
  const above = typeof exclusiveMinimum === 'number' ? Math.floor(exclusiveMinimum) + 1 : undefined
  const least = typeof minimum === 'number' ? Math.ceil(minimum) : (above ?? 1)
  const value = typeof maximum === 'number' ? Math.min(least, maximum) : least
  return typeof multipleOf === 'number' ? Math.ceil(value / multipleOf) * multipleOf : value
}

function textOf({ format, minLength, maxLength }: Schema, text: string): string {
  const known = typeof format === 'string' ? texts[format] : undefined
  if (known !== undefined) return known
  return text.padEnd(amount(minLength), '.').slice(0, typeof maxLength === 'number' ? maxLength : undefined)
}

function typeOf({ type, properties, items }: Schema): unknown {
  if (Array.isArray(type)) return type.find((one) => one !== 'null') ?? 'null'
  return type ?? (properties ? 'object' : items ? 'array' : 'string')
}

/** What `#/$defs/name` stands for. */
function referred(path: string, root: unknown): unknown {
  let found = root
  for (const part of path.split('/').slice(1)) found = isSchema(found) ? found[part] : undefined
  return found
}

const deeper = (place: Place): Place => ({ ...place, depth: place.depth + 1 })
const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined)
const amount = (value: unknown): number => (typeof value === 'number' ? Math.min(value, 1000) : 0)

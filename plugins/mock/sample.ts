import { badRequest } from '#kernel'

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

/** Values that a sample may have, and characters that count as one more. */
const mostValues = 10_000
const charactersOfValue = 64

/**
 * The plainest value that fits a JSON Schema: the same for the same schema. Patterns are not followed. Throws a bad request for a
 * schema that asks for too large a value, with the field that it came in: a few lines can ask for more than any memory holds.
 */
export function sampleOf(schema: unknown, param: string): unknown {
  return sampled(schema, { root: schema, param, depth: 0, made: { values: 0 } })
}

function count({ made, param }: Place, characters = 0): void {
  made.values += 1 + characters / charactersOfValue
  if (made.values > mostValues)
    throw badRequest('The schema asks for a larger answer than the mock provider makes up.', {
      param,
    })
}

interface Place {
  readonly root: unknown
  readonly param: string
  readonly depth: number
  /** Of the whole sample. */
  readonly made: { values: number }
}

function sampled(schema: unknown, place: Place): unknown {
  count(place)
  if (!isSchema(schema)) return {}
  if (place.depth > bottomless) return null
  const given = schema.const ?? schema.default ?? first(schema.enum) ?? first(schema.examples)
  if (given !== undefined) {
    count(place, JSON.stringify(given).length)
    return given
  }
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
      count(place, amount(schema.minLength))
      return textOf(schema)
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
  const least = typeof minimum === 'number' ? Math.ceil(minimum) : (above ?? Number.NEGATIVE_INFINITY)
  // Not the least: clients write the range of safe integers.
  const value = Math.min(Math.max(least, 1), typeof maximum === 'number' ? maximum : Number.POSITIVE_INFINITY)
  return typeof multipleOf === 'number' ? Math.ceil(value / multipleOf) * multipleOf : value
}

function textOf({ format, minLength, maxLength }: Schema): string {
  const known = typeof format === 'string' ? texts[format] : undefined
  if (known !== undefined) return known
  return 'text'.padEnd(amount(minLength), '.').slice(0, typeof maxLength === 'number' ? maxLength : undefined)
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

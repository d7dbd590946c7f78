import type { Json, JsonObject } from '#kernel'

/** A schema that a decoder can hold a model to, and the rules of it that only the model's instructions carry. */
export interface ClosedSchema {
  /** The schema itself where nothing had to be changed. */
  readonly schema: JsonObject
  /** `minimum->description` for what stands in a description now, `+additionalProperties` for what was added. */
  readonly changes: readonly string[]
}

/**
 * A JSON Schema as Claude's services take it: every object lists its properties and allows no others, and rules that their
 * decoder does not know stand in descriptions. What fits it fits the original, but for those rules. Undefined where
 * anything at all may stand somewhere, or where a schema contains itself.
 */
export function closedSchema(schema: JsonObject): ClosedSchema | undefined {
  const closer = new Closer(schema)
  const closed = closer.close(schema)
  if (!closed) return undefined
  const changes = [...closer.changes]
  return { schema: changes.length > 0 ? closed : schema, changes }
}

const kept = new Set([
  ...['type', 'enum', 'const', 'title', 'description', 'default', 'required', 'format'],
  ...[
    'properties',
    'additionalProperties',
    'items',
    'minItems',
    'anyOf',
    'allOf',
    '$ref',
    '$defs',
    'definitions',
  ],
])
/** Say nothing of values. */
const silent = new Set(['$schema', '$id', '$comment', 'examples', 'deprecated', 'readOnly', 'writeOnly'])
const formats = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
])

class Closer {
  readonly changes = new Set<string>()
  readonly #root: JsonObject
  /** Whether places that references lead to are sound; false while their own references are followed. */
  readonly #sound = new Map<JsonObject, boolean>()

  constructor(root: JsonObject) {
    this.#root = root
  }

  /** Undefined for a schema that cannot be closed. */
  close(schema: Json | undefined): JsonObject | undefined {
    if (!isObject(schema) || !this.#isBound(schema)) return undefined
    const closed: JsonObject = {}
    const told: string[] = []
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'oneOf') this.changes.add('oneOf->anyOf')
      else if (isKept(keyword, value)) closed[keyword] = value
      else if (silent.has(keyword)) this.changes.add(`-${keyword}`)
      else {
        this.changes.add(`${keyword}->description`)
        told.push(`${keyword}: ${JSON.stringify(value)}`)
      }
    }
    if (told.length > 0) closed.description = [schema.description, ...told].filter(Boolean).join('\n')
    return this.#parts(schema, closed) ? closed : undefined
  }

  /** Whether it says what may stand there, and of an object which properties. */
  #isBound(schema: JsonObject): boolean {
    const { type, properties, additionalProperties: others, patternProperties } = schema
    if (typeof schema.$ref === 'string') return this.#isSound(schema.$ref)
    const isAnObject = type === 'object' || (Array.isArray(type) && type.includes('object')) || !!properties
    if (isAnObject) {
      if (patternProperties !== undefined || (others !== undefined && others !== false)) return false
      return others === false || (isObject(properties) && Object.keys(properties).length > 0)
    }
    return [type, schema.enum, schema.const, schema.anyOf, schema.oneOf, schema.allOf].some(
      (said) => said !== undefined,
    )
  }

  /** Puts what is inside in its place; false where a part cannot be closed. */
  #parts(schema: JsonObject, closed: JsonObject): boolean {
    if (isObject(schema.properties)) {
      const properties = this.#each(schema.properties)
      if (!properties) return false
      closed.properties = properties
      if (schema.additionalProperties === undefined) {
        closed.additionalProperties = false
        this.changes.add('+additionalProperties')
      }
    }
    for (const name of ['$defs', 'definitions'] as const) {
      if (!isObject(schema[name])) continue
      const defined = this.#each(schema[name])
      if (!defined) return false
      closed[name] = defined
    }
    if (schema.items !== undefined) {
      const items = this.close(schema.items)
      if (!items) return false
      closed.items = items
    }
    for (const name of ['anyOf', 'oneOf', 'allOf'] as const) {
      const all = schema[name]
      if (!Array.isArray(all)) continue
      const made = all.map((one) => this.close(one))
      if (made.some((one) => one === undefined)) return false
      closed[name === 'oneOf' ? 'anyOf' : name] = made as JsonObject[]
    }
    return true
  }

  #each(schemas: JsonObject): JsonObject | undefined {
    const closed = Object.entries(schemas).map(([name, one]) => [name, this.close(one)] as const)
    return closed.every(([, one]) => one !== undefined)
      ? (Object.fromEntries(closed) as JsonObject)
      : undefined
  }

  /**
   * Whether a reference leads to a place in the schema that does not contain it, nor leads to one that contains itself. Each place
   * is looked at once, however many lead there: references of references could be followed without end.
   */
  #isSound(reference: string): boolean {
    const found = this.#find(reference)
    if (!found) return false
    let sound = this.#sound.get(found)
    if (sound === undefined) {
      this.#sound.set(found, false)
      sound = referencesIn(found).every((inner) => this.#isSound(inner))
      this.#sound.set(found, sound)
    }
    return sound
  }

  #find(reference: string): JsonObject | undefined {
    if (!reference.startsWith('#/')) return undefined
    let node: Json | undefined = this.#root
    for (const step of reference.split('/').slice(1)) {
      const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
      node = isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined
    }
    return isObject(node) ? node : undefined
  }
}

function isKept(keyword: string, value: Json): boolean {
  if (keyword === 'format') return formats.has(String(value))
  if (keyword === 'minItems') return value === 0 || value === 1
  return kept.has(keyword)
}

function referencesIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn)
  if (!isObject(value)) return []
  const own = typeof value.$ref === 'string' ? [value.$ref] : []
  return [...own, ...Object.values(value).flatMap(referencesIn)]
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

import type { Json, JsonObject } from '#kernel'

/** The keywords that older models know of a schema: a part of OpenAPI's, with types in capitals. */
const known = new Set([
  'title',
  'description',
  'nullable',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'pattern',
  'default',
  'example',
  'propertyOrdering',
  'required',
])

/** Formats that are known, by type; others are refused there. */
const formats: Readonly<Record<string, readonly string[]>> = {
  STRING: ['enum', 'date-time'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
}

/** Parts that a schema may have once references are put in place: what they lead to could double with each of them. */
const mostParts = 10_000

/**
 * A JSON Schema for models that support only a part of it: references are put in place, alternatives become `anyOf`, and the
 * rest is dropped. References of one that has grown too large by them are dropped, too. It calls `dropped` with each keyword that made the schema less strict.
 */
export function narrowed(schema: JsonObject, dropped: (keyword: string) => void): JsonObject {
  return new Narrower(schema, dropped).narrow(schema, [])
}

class Narrower {
  readonly #root: JsonObject
  readonly #dropped: (keyword: string) => void
  #parts = 0

  constructor(root: JsonObject, dropped: (keyword: string) => void) {
    this.#root = root
    this.#dropped = dropped
  }

  /** `inside` are the references that are being put in place: one that contains itself ends as any object. */
  narrow(schema: Json | undefined, inside: readonly string[]): JsonObject {
    if (!isObject(schema)) return {}
    this.#parts += 1
    if (typeof schema.$ref === 'string') return this.#referred(schema, schema.$ref, inside)
    if (Array.isArray(schema.allOf)) return this.#merged(schema, schema.allOf, inside)
    const narrow: JsonObject = {}
    for (const [keyword, value] of Object.entries(schema)) {
      if (known.has(keyword)) narrow[keyword] = value
      else if (!this.#translated.has(keyword)) this.#dropped(keyword)
    }
    this.#typed(narrow, schema)
    this.#chosen(narrow, schema)
    if (isObject(schema.properties)) {
      narrow.properties = Object.fromEntries(
        Object.entries(schema.properties).map(([name, property]) => [name, this.narrow(property, inside)]),
      )
      narrow.type ??= 'OBJECT'
    }
    if (schema.items !== undefined) narrow.items = this.narrow(schema.items, inside)
    const alternatives = schema.anyOf ?? schema.oneOf
    if (Array.isArray(alternatives)) this.#alternatives(narrow, alternatives, inside)
    return narrow
  }

  /** Handled one by one, or of no meaning to a model. */
  readonly #translated = new Set([
    ...['type', 'format', 'enum', 'const', 'properties', 'items', 'anyOf', 'oneOf', 'allOf'],
    ...[
      '$defs',
      'definitions',
      '$schema',
      '$id',
      '$comment',
      'examples',
      'deprecated',
      'readOnly',
      'writeOnly',
    ],
  ])

  #typed(narrow: JsonObject, { type, format }: JsonObject): void {
    const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string')
    const [first, ...others] = types.filter((one) => one !== 'null').map((one) => one.toUpperCase())
    if (types.includes('null')) narrow.nullable = true
    if (first !== undefined && others.length === 0) narrow.type = first
    else if (first !== undefined) narrow.anyOf = [first, ...others].map((one) => ({ type: one }))
    if (typeof format !== 'string') return
    if (formats[first ?? '']?.includes(format)) narrow.format = format
    else this.#dropped('format')
  }

  /** Enumerations are of texts only. */
  #chosen(narrow: JsonObject, schema: JsonObject): void {
    const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const!] : undefined
    if (!values) return
    const texts = values.filter((value) => typeof value === 'string')
    if (values.includes(null)) narrow.nullable = true
    if (texts.length > 0 && texts.length === values.filter((value) => value !== null).length) {
      narrow.enum = texts
      narrow.type = 'STRING'
    } else if (texts.length > 0 || values.some((value) => value !== null)) {
      this.#dropped(schema.enum === undefined ? 'const' : 'enum')
    }
  }

  #alternatives(narrow: JsonObject, alternatives: readonly Json[], inside: readonly string[]): void {
    const some = alternatives.filter((one) => !(isObject(one) && one.type === 'null'))
    if (some.length < alternatives.length) narrow.nullable = true
    const made = some.map((one) => this.narrow(one, inside))
    if (made.length === 1) Object.assign(narrow, made[0])
    else if (made.length > 1) narrow.anyOf = made
  }

  #referred(schema: JsonObject, reference: string, inside: readonly string[]): JsonObject {
    const { $ref: _, ...beside } = schema
    const found = this.#followed(reference, inside)
    if (!found) return { type: 'OBJECT', ...this.narrow(beside, inside) }
    return this.narrow({ ...found, ...beside }, [...inside, reference])
  }

  /** What a reference leads to; undefined, and told, for one that leads nowhere, into itself, or too far. */
  #followed(reference: string, inside: readonly string[]): JsonObject | undefined {
    const found = inside.includes(reference) || this.#parts > mostParts ? undefined : this.#find(reference)
    if (!found) this.#dropped('$ref')
    return found
  }

  #find(reference: string): JsonObject | undefined {
    if (reference !== '#' && !reference.startsWith('#/')) return undefined
    let node: Json | undefined = this.#root
    for (const step of reference.split('/').slice(1)) {
      const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
      node = isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined
    }
    return isObject(node) ? node : undefined
  }

  /** All of several schemas at once: their properties together. */
  #merged({ allOf: _, ...schema }: JsonObject, all: readonly Json[], inside: readonly string[]): JsonObject {
    let merged: JsonObject = schema
    const within = [...inside]
    for (const one of all) {
      if (!isObject(one)) continue
      let part: JsonObject = one
      if (typeof one.$ref === 'string') {
        const found = this.#followed(one.$ref, inside)
        if (!found) continue
        part = found
        within.push(one.$ref)
      }
      merged = {
        ...part,
        ...merged,
        ...((isObject(part.properties) || isObject(merged.properties)) && {
          properties: { ...asObject(part.properties), ...asObject(merged.properties) },
        }),
        ...((Array.isArray(part.required) || Array.isArray(merged.required)) && {
          required: [...new Set([...asList(part.required), ...asList(merged.required)])],
        }),
      }
    }
    return this.narrow(merged, within)
  }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})
const asList = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

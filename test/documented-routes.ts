type Schema = Readonly<Record<string, unknown>>

/** One method of one path of the OpenAPI document. */
export interface Operation {
  readonly method: string
  readonly path: string
  /** Names of parameters of the path. */
  readonly params: readonly string[]
  /** Names of parameters of its query. */
  readonly query: readonly string[]
  /** Schema of its JSON body, if it takes one. */
  readonly body: Schema | undefined
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

interface Described {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
}

const methods = new Set(['get', 'post', 'put', 'patch', 'delete'])

/** All operations that the OpenAPI document of a gateway lists. */
export const operationsOf = ({ paths }: Document): Operation[] =>
  Object.entries(paths).flatMap(([path, of]) =>
    Object.entries(of)
      .filter(([method]) => methods.has(method))
      .map(([method, { parameters = [], requestBody }]) => ({
        method: method.toUpperCase(),
        path,
        params: [...path.matchAll(/\{\+?(\w+)\}/g)].map(([, name]) => name!),
        query: parameters.filter((one) => one.in === 'query').map(({ name }) => name),
        body: requestBody?.content?.['application/json']?.schema,
      })),
  )

/** A small value that a schema takes, as far as its types say: required fields only. */
export function sampleOf(schema: Schema | undefined): unknown {
  if (!schema) return {}
  const { type, enum: values, anyOf, oneOf, properties, required, items, minItems, minimum } = schema
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(values)) return values[0]
  const [first] = (anyOf ?? oneOf ?? []) as Schema[]
  if (first) return sampleOf(first)
  if (type === 'object') {
    const fields = properties as Readonly<Record<string, Schema>> | undefined
    return Object.fromEntries(((required ?? []) as string[]).map((name) => [name, sampleOf(fields?.[name])]))
  }
  if (type === 'array') return Array.from({ length: Number(minItems ?? 0) }, () => sampleOf(items as Schema))
  if (type === 'integer' || type === 'number') return Number(minimum ?? 1)
  if (type === 'boolean') return false
  return schema.format === 'uri' ? 'https://example.com' : schema.format === 'email' ? 'x@example.com' : 'x'
}

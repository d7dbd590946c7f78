import { badRequest, type Call, type JsonObject, type ResponseFormat } from '#kernel'
import { isStrictSchema, parseForeign } from '#kit'

const longest = 64 * 1024

/** The form that a call's answer must have. */
export interface Wanted {
  readonly schema: JsonObject
  /** The response format for the provider. */
  readonly format: ResponseFormat
  /** Any JSON object will do. */
  readonly isAny?: boolean
}

/**
 * The form that a call's answer must fit, from X-Schema, from the request, or from the settings, to be read where it is needed;
 * undefined where there is none.
 */
export function wantedOf(
  { context, operation, request }: Call,
  registered: Readonly<Record<string, JsonObject>>,
): (() => Wanted) | undefined {
  if (operation !== 'chat') return undefined
  const header = context.headers['x-schema']
  if (typeof header === 'string' && header !== '') return () => ours(fromHeader(header, registered))
  const format = request.response_format
  if (format?.type === 'json_schema') {
    return () => {
      const schema = format.json_schema?.schema
      if (!schema) throw wrong('it contains no schema', 'response_format.json_schema.schema')
      return { schema, format }
    }
  }
  const name = `model ${request.model}`
  if (Object.hasOwn(registered, name)) return () => ours(registered[name]!)
  return format?.type === 'json_object' ? () => ({ schema: anyObject, format, isAny: true }) : undefined
}

/** The values beyond its request that a call's answer varies by: a schema of the header or of the settings. */
export function variesBy(
  { context, request }: Call,
  registered: Readonly<Record<string, JsonObject>>,
): string | undefined {
  const header = context.headers['x-schema']
  const isGiven = typeof header === 'string' && header !== ''
  const name = isGiven ? header : `model ${request.model}`
  if (Object.hasOwn(registered, name)) return JSON.stringify(registered[name])
  return isGiven ? header : undefined
}

const anyObject: JsonObject = { type: 'object' }

/** A schema that the client did not put into its request: strict where services that tell the two apart take it so. */
const ours = (schema: JsonObject): Wanted => ({
  schema,
  format: {
    type: 'json_schema',
    json_schema: { name: 'answer', schema, ...(isStrictSchema(schema) && { strict: true }) },
  },
})

/** Raw JSON, base64url of it, or the name of a registered schema. */
function fromHeader(header: string, registered: Readonly<Record<string, JsonObject>>): JsonObject {
  if (header.length > longest) throw wrong(`it is longer than ${longest} characters`, 'X-Schema')
  if (Object.hasOwn(registered, header)) return registered[header]!
  const text = header.trimStart().startsWith('{') ? header : Buffer.from(header, 'base64url').toString('utf8')
  try {
    const schema = parseForeign(text)
    if (typeof schema === 'object' && schema !== null && !Array.isArray(schema)) return schema as JsonObject
  } catch {
    // Not JSON in either form: the same refusal as JSON that is no object.
  }
  throw wrong(
    'it is neither a JSON object, nor base64url of one, nor the name of a registered schema',
    'X-Schema',
  )
}

const wrong = (what: string, param: string) => badRequest(`The schema cannot be used: ${what}.`, { param })

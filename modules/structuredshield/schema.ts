import { type Awaitable, badRequest, type Call, type JsonObject, type ResponseFormat } from '#kernel'
import { isStrictSchema, parseForeign, readable } from '#kit'

const longest = 64 * 1024

/** The form that a call's answer must have. */
export interface Wanted {
  readonly schema: JsonObject
  /** The response format for the provider. */
  readonly format: ResponseFormat
  /** Any JSON object will do. */
  readonly isAny?: boolean
}

/** Has the guards of a call look at a text that comes into it; returns what may go to the provider. */
type Inspect = (text: string) => Promise<string>

/**
 * The form that a call's answer must fit, from X-Schema, from the request, or from the settings, to be read where it is needed;
 * undefined where there is none. Guards see the schema of a header, too, which goes to the provider with the request.
 */
export function wantedOf(
  { context, operation, request }: Call,
  registered: Readonly<Record<string, JsonObject>>,
): ((inspect: Inspect) => Awaitable<Wanted>) | undefined {
  if (operation !== 'chat') return undefined
  const header = context.headers['x-schema']
  if (typeof header === 'string' && header !== '')
    return async (inspect) => ours(await fromHeader(header, registered, inspect))
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
async function fromHeader(
  header: string,
  registered: Readonly<Record<string, JsonObject>>,
  inspect: Inspect,
): Promise<JsonObject> {
  if (header.length > longest) throw wrong(`it is longer than ${longest} characters`, 'X-Schema')
  if (Object.hasOwn(registered, header)) return registered[header]!
  const text = header.trimStart().startsWith('{') ? header : Buffer.from(header, 'base64url').toString('utf8')
  const given = schemaIn(text)
  if (!given)
    throw wrong(
      'it is neither a JSON object, nor base64url of one, nor the name of a registered schema',
      'X-Schema',
    )
  // Written anew, so that no escape hides a text from the guards.
  const written = JSON.stringify(given)
  const seen = await inspect(written)
  if (seen === written) return given
  const allowed = schemaIn(seen)
  if (!allowed) throw wrong('a guard has replaced a part of it that is no text', 'X-Schema')
  return allowed
}

/** The schema that a text is; undefined for what is no JSON object. */
function schemaIn(text: string): JsonObject | undefined {
  const schema = readable(() => parseForeign(text))
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema)
    ? (schema as JsonObject)
    : undefined
}

const wrong = (what: string, param: string) => badRequest(`The schema cannot be used: ${what}.`, { param })

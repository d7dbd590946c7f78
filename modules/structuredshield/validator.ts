import { createRequire } from 'node:module'
import type { ErrorObject, ValidateFunction } from 'ajv'
import { LRUCache } from 'lru-cache'
import type { RE2JS } from 're2js'
import { badRequest, type JsonObject } from '#kernel'

const require = createRequire(import.meta.url)

/** Loaded with the first schema: most gateways never see one. */
const load = () => ({
  ...(require('ajv') as typeof import('ajv')),
  addFormats: require('ajv-formats') as typeof import('ajv-formats')['default'],
  ...(require('re2js') as typeof import('re2js')),
})

/** Whether a value fits, or what is wrong with it, one line each. */
export type Validate = (value: unknown) => { readonly value: unknown; readonly problems: readonly string[] }

/** Compiled schemas; strangers send them, so their number is bounded and their patterns run in linear time. */
export class Validators {
  readonly #known = new LRUCache<string, Validate>({ max: 500 })

  /** Throws a bad request when the schema itself is wrong. */
  get(schema: JsonObject): Validate {
    const text = JSON.stringify(schema)
    const known = this.#known.get(text) ?? compile(schema)
    this.#known.set(text, known)
    return known
  }
}

function compile(schema: JsonObject): Validate {
  const exact = compiled(schema, false)
  const lenient = compiled(schema, true)
  return (value) => {
    if (exact(value)) return { value, problems: [] }
    const problems = (exact.errors ?? []).slice(0, 20).map(describe)
    const coerced = structuredClone(value)
    const fits = lenient(coerced) && isSame(value, coerced)
    return fits ? { value: coerced, problems: [] } : { value, problems }
  }
}

/** Whether values are the same but for quotes around them: what was nothing, or yes, is made no number. */
function isSame(value: unknown, coerced: unknown): boolean {
  if (typeof value === 'object' && value !== null && typeof coerced === 'object' && coerced !== null) {
    const inner = coerced as Record<string, unknown>
    return Object.entries(value).every(([key, one]) => isSame(one, inner[key]))
  }
  const isQuote = typeof value === 'string' ? value !== '' && coerced !== null : typeof coerced === 'string'
  return value === coerced || (isQuote && value !== null)
}

/** With coercion, `"36"` becomes `36` in the value where a number is asked for. */
function compiled(schema: JsonObject, coerceTypes: boolean): ValidateFunction {
  const { Ajv, addFormats, RE2JS } = load()
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    coerceTypes,
    logger: false,
    code: { regExp: linear(RE2JS) },
  })
  addFormats.default(ajv)
  const { $schema: _, ...rest } = schema
  try {
    return ajv.compile(rest)
  } catch (error) {
    throw badRequest(`The schema cannot be used: ${(error as Error).message.slice(0, 300)}.`, {
      param: 'schema',
      cause: error,
    })
  }
}

/** Ajv's way to bring one's own regular expressions: no backtracking. */
const linear = (engine: typeof RE2JS) =>
  Object.assign(
    (pattern: string) => {
      const expression = engine.compile(pattern)
      return { test: (text: string) => expression.matcher(text).find() }
    },
    { code: 'linear' },
  )

const describe = ({ instancePath, message }: ErrorObject): string =>
  `${instancePath || '/'} ${message ?? 'is wrong'}`

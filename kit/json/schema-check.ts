import { createRequire } from 'node:module'
import type { ErrorObject, ValidateFunction } from 'ajv'
import type { RE2JS } from 're2js'
import type { JsonObject } from '../canonical/forms.ts'
import { patternSize } from '../detection/pattern.ts'
import { badRequest, type GatewayError } from '../errors.ts'
import { withinTime } from '../work/time-limit.ts'
import { patternsIn } from './schema-patterns.ts'

const require = createRequire(import.meta.url)

/** Loaded with the first schema: most gateways never see one. */
const load = () => ({
  ...(require('ajv') as typeof import('ajv')),
  addFormats: require('ajv-formats') as typeof import('ajv-formats')['default'],
  ...(require('re2js') as typeof import('re2js')),
})

/** What is wrong with a value, one line each and 20 at the most; empty for a value that matches. */
export type SchemaCheck = (value: unknown) => readonly string[]

export interface SchemaCheckOptions {
  /** Makes `36` of `"36"` in the value itself where the schema asks for a number, and so on. */
  readonly coerce?: boolean
  /** The field that the schema came in, for the refusal; `schema` without it. */
  readonly param?: string
}

/** How long a schema may take to be read, and how long to check a value, in milliseconds. */
const mostMs = 2000

/** Characters of a schema that takes no time worth a limit. */
const short = 4096

/** Keywords with which a short schema, too, can ask for more work than any time allows. */
const costly = /"(?:\$ref|\$dynamicRef|\$recursiveRef|uniqueItems)":/

/** The same for a value of a schema that is checked where other calls wait for it. */
const mostMsHere = 500

/** Steps of the patterns of a schema, each of which may be taken for each character of a value, that take no time worth a limit. */
const fewSteps = 200
/** The same for a value: its characters times those steps. */
const fewStepsOfValue = 1_000_000

/**
 * The check of a JSON Schema. Strangers write schemas, so its patterns run in linear time, and reading one and checking a value end
 * after two seconds each. Throws a bad request when the schema itself is wrong, and its check one when a value takes too long.
 */
export function schemaCheck(
  schema: JsonObject,
  { coerce = false, param = 'schema' }: SchemaCheckOptions = {},
): SchemaCheck {
  const check = usable(() => readSchema(schema, coerce), param)
  return (value) => usable(() => check(value), param)
}

/** Whether a schema may take longer to be read, or a value to be checked, than other calls should wait. */
export function isSlow(schema: JsonObject): boolean {
  const text = JSON.stringify(schema)
  return text.length > short || costly.test(text) || hasManySteps(schema)
}

const hasManySteps = (schema: JsonObject): boolean => stepsOf(schema) > fewSteps

/** The steps of the patterns of a schema, counted until they are many. */
function stepsOf(schema: JsonObject): number {
  let steps = 0
  for (const pattern of patternsIn(schema)) {
    steps += patternSize(pattern) ?? 0
    if (steps > fewSteps) break
  }
  return steps
}

/** Characters of all texts in a value. */
function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((sum, [key, one]) => sum + key.length + charactersIn(one), 0)
}

/** The same check, which throws plain errors. With `coerce` it changes the value. */
export function readSchema({ $schema: _, ...schema }: JsonObject, coerce: boolean): SchemaCheck {
  const { Ajv, addFormats, RE2JS } = load()
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    coerceTypes: coerce,
    logger: false,
    code: { regExp: linear(RE2JS) },
  })
  addFormats.default(ajv)
  const isLimited = isSlow(schema)
  const steps = isLimited ? 0 : stepsOf(schema)
  const limited = <T>(ms: number | undefined, work: () => T): T => (ms ? withinTime(ms, work) : work())
  const validate: ValidateFunction = limited(isLimited ? mostMs : undefined, () => ajv.compile(schema))
  const limitFor = (value: unknown): number | undefined => {
    if (isLimited) return mostMs
    return steps > 0 && steps * charactersIn(value) > fewStepsOfValue ? mostMsHere : undefined
  }
  return (value) =>
    limited(limitFor(value), () => validate(value)) ? [] : (validate.errors ?? []).slice(0, 20).map(describe)
}

/** The refusal of a schema, for a reason. */
export const unusable = (reason: string, param: string, cause?: unknown): GatewayError =>
  badRequest(`The schema cannot be used: ${reason.slice(0, 300)}.`, { param, cause })

function usable<T>(work: () => T, param: string): T {
  try {
    return work()
  } catch (error) {
    throw unusable((error as Error).message, param, error)
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

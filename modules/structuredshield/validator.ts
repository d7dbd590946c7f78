import { LRUCache } from 'lru-cache'
import type { JsonObject } from '#kernel'
import { type SchemaCheck, schemaCheck } from '#kit'

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
  const exact = schemaCheck(schema)
  let lenient: SchemaCheck | undefined
  return (value) => {
    const problems = exact(value)
    if (problems.length === 0) return { value, problems }
    // Read when a value is the first that it may help: most need it never.
    lenient ??= schemaCheck(schema, { coerce: true })
    const coerced = structuredClone(value)
    const fits = lenient(coerced).length === 0 && isSame(value, coerced)
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

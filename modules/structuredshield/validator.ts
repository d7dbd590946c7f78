import { LRUCache } from 'lru-cache'
import type { JsonObject } from '#kernel'
import { mapStrings, type SchemaCheck, schemaCheck } from '#kit'

/** Whether a value fits, or what is wrong with it, one line each. */
export type Validate = (value: unknown) => { readonly value: unknown; readonly problems: readonly string[] }

/** Puts the values of a call in the places of their placeholders. */
export type Restore = (text: string) => string

type Compiled = (value: unknown, fitsRestored?: (value: unknown) => boolean) => ReturnType<Validate>

/** Compiled schemas; strangers send them, so their number is bounded and their patterns run in linear time. */
export class Validators {
  readonly #known = new LRUCache<string, Compiled>({ max: 500 })

  /**
   * Throws a bad request when the schema itself is wrong. With `restore`, a value fits too if what the client makes of it does; it
   * stays as it is, and so do the problems, which models are told.
   */
  get(schema: JsonObject, restore?: Restore): Validate {
    const text = JSON.stringify(schema)
    const known = this.#known.get(text) ?? compile(schema)
    this.#known.set(text, known)
    if (!restore) return (value) => known(value)
    let exact: SchemaCheck | undefined
    return (value) =>
      known(value, (made) => {
        exact ??= schemaCheck(mapStrings(schema, restore))
        return exact(mapStrings(made, restore)).length === 0
      })
  }
}

function compile(schema: JsonObject): Compiled {
  const exact = schemaCheck(schema)
  let lenient: SchemaCheck | undefined
  return (value, fitsRestored = () => false) => {
    const problems = exact(value)
    if (problems.length === 0) return { value, problems }
    if (fitsRestored(value)) return { value, problems: [] }
    // Read when a value is the first that it may help: most need it never.
    lenient ??= schemaCheck(schema, { coerce: true })
    const coerced = structuredClone(value)
    const fits = (lenient(coerced).length === 0 || fitsRestored(coerced)) && isSame(value, coerced)
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

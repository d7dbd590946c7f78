import { LRUCache } from 'lru-cache'
import type { JsonObject } from '#kernel'
import { type HeldSchema, mapStrings, type Schemas } from '#kit'

interface Validated {
  readonly value: unknown
  /** One line each; empty for a value that fits. */
  readonly problems: readonly string[]
}

/** Whether a value fits, or what is wrong with it. */
export type Validate = (value: unknown) => Promise<Validated>

/** Puts the values of a call in the places of their placeholders. */
export type Restore = (text: string) => string

type Compiled = (value: unknown, fitsRestored?: (value: unknown) => Promise<boolean>) => Promise<Validated>

/** Compiled schemas; strangers send them, so their number is bounded and their patterns run in linear time. */
export class Validators {
  readonly #schemas: Schemas
  readonly #known = new LRUCache<string, Compiled>({ max: 500 })

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  /**
   * Rejects with a bad request when the schema itself is wrong. With `restore`, a value fits too if what the client makes of it does;
   * it stays as it is, and so do the problems, which models are told.
   */
  async get(schema: JsonObject, restore?: Restore): Promise<Validate> {
    const text = JSON.stringify(schema)
    const known = this.#known.get(text) ?? (await compile(schema, this.#schemas))
    this.#known.set(text, known)
    if (!restore) return (value) => known(value)
    let exact: HeldSchema | undefined
    return (value) =>
      known(value, async (made) => {
        exact ??= await this.#schemas.read(mapStrings(schema, restore))
        return (await exact.check(mapStrings(made, restore))).problems.length === 0
      })
  }
}

async function compile(schema: JsonObject, schemas: Schemas): Promise<Compiled> {
  const exact = await schemas.read(schema)
  let lenient: HeldSchema | undefined
  return async (value, fitsRestored = async () => false) => {
    const { problems } = await exact.check(value)
    if (problems.length === 0) return { value, problems }
    if (await fitsRestored(value)) return { value, problems: [] }
    // Read when a value is the first that it may help: most need it never.
    lenient ??= await schemas.read(schema, { coerce: true })
    const coerced = await lenient.check(value)
    const fits = coerced.problems.length === 0 || (await fitsRestored(coerced.value))
    return fits && isSame(value, coerced.value) ? { value: coerced.value, problems: [] } : { value, problems }
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

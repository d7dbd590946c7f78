import type { JsonObject } from '#kernel'
import type { Schemas } from '#kit'

/** As users write it. */
type Schema = Readonly<Record<string, unknown>>

/** Rejects with a bad request for a schema that cannot be used; `param` is the field that it came in. */
export async function checkSchema(schemas: Schemas, schema: Schema, param: string): Promise<void> {
  await schemas.read(schema as JsonObject, { param })
}

/** The first thing that is wrong with a value; undefined for one that matches. Rejects with a bad request where that takes too long. */
export async function problemIn(
  schemas: Schemas,
  schema: Schema,
  value: unknown,
): Promise<string | undefined> {
  const held = await schemas.read(schema as JsonObject)
  return (await held.check(value)).problems[0]
}

import { badRequest, type JsonObject } from '#kernel'
import { patternSize, patternsIn, type Schemas } from '#kit'

/** As users write it. */
type Schema = Readonly<Record<string, unknown>>

/**
 * Steps of all patterns that one answer is held to. An engine without backtracking takes each of them for each character at the worst:
 * with these bounds half a second.
 */
const mostSteps = 1000
/** Characters of an answer that patterns are tried on; a longer one matches none. */
export const longestMatched = 20_000

/** Refuses a schema that cannot be used; `param` is the field that it came in. */
export async function checkSchema(schemas: Schemas, schema: Schema, param: string): Promise<void> {
  await schemas.read(schema as JsonObject, { param })
  checkSteps(stepsOfSchema(schema), param)
}

/** The steps of the patterns of a schema that can be used, counted until they are too many. */
export function stepsOfSchema(schema: Schema): number {
  let steps = 0
  for (const pattern of patternsIn(schema)) {
    steps += patternSize(pattern) ?? 0
    if (steps > mostSteps) break
  }
  return steps
}

/** Refuses patterns that would take long for one answer. */
export function checkSteps(steps: number, param: string): void {
  if (steps > mostSteps)
    throw badRequest(
      `body ${param}: the patterns take more than the ${mostSteps} steps that they may take; repeat less.`,
      { param },
    )
}

/** Tells whether a value matches; the text of one that patterns look at has a limited length. */
export function schemaTest(
  schemas: Schemas,
  schema: Schema,
): (json: unknown, length: number) => Promise<boolean> {
  const reading = Promise.resolve(schemas.read(schema as JsonObject))
  reading.catch(() => {})
  const isLimited = stepsOfSchema(schema) > 0
  return async (json, length) => {
    if (isLimited && length > longestMatched) return false
    return (await (await reading).check(json)).problems.length === 0
  }
}

import { badRequest } from '#kernel'
import { patternSize, schemaCheck } from '#kit'

type Schema = Parameters<typeof schemaCheck>[0]

/**
 * Steps of all patterns that one answer is held to. An engine without backtracking takes each of them for each character at the worst:
 * with these bounds half a second.
 */
const mostSteps = 1000
/** Characters of an answer that patterns are tried on; a longer one matches none. */
export const longestMatched = 20_000

/** The regular expressions of a JSON Schema, at whatever depth. */
function* patternsIn(schema: unknown): Iterable<string> {
  if (typeof schema !== 'object' || schema === null) return
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'pattern' && typeof value === 'string') yield value
    if (name === 'patternProperties' && typeof value === 'object' && value !== null) yield* Object.keys(value)
    yield* patternsIn(value)
  }
}

/** Refuses a schema that cannot be used; `param` is the field that it came in. */
export function checkSchema(schema: Readonly<Record<string, unknown>>, param: string): void {
  schemaCheck(schema as Schema, { param })
  checkSteps(stepsOfSchema(schema), param)
}

/** The steps of the patterns of a schema that can be used. */
export function stepsOfSchema(schema: Readonly<Record<string, unknown>>): number {
  let steps = 0
  for (const pattern of patternsIn(schema)) steps += patternSize(pattern) ?? 0
  return steps
}

/** Refuses patterns that would take long for one answer. */
export function checkSteps(steps: number, param: string): void {
  if (steps > mostSteps)
    throw badRequest(
      `body ${param}: the patterns take ${steps} steps, and may take ${mostSteps}; repeat less.`,
      {
        param,
      },
    )
}

/** Tells whether a value matches; the text of one that patterns look at has a limited length. */
export function schemaTest(
  schema: Readonly<Record<string, unknown>>,
): (json: unknown, length: number) => boolean {
  const problems = schemaCheck(schema as Schema)
  const isLimited = stepsOfSchema(schema) > 0
  return (json, length) => (!isLimited || length <= longestMatched) && problems(json).length === 0
}

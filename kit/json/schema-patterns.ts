/** The regular expressions of a JSON Schema, at whatever depth. */
export function* patternsIn(schema: unknown): Iterable<string> {
  if (typeof schema !== 'object' || schema === null) return
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'pattern' && typeof value === 'string') yield value
    if (name === 'patternProperties' && typeof value === 'object' && value !== null) yield* Object.keys(value)
    yield* patternsIn(value)
  }
}

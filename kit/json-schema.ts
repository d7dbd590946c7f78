import { z } from 'zod'

/** The JSON Schema of a plugin's settings; undefined for settings that have none, as a stranger's plugin may. */
export function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> | undefined {
  try {
    return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  } catch {
    return undefined
  }
}

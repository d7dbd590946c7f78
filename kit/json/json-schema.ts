import { z } from 'zod'
import { readable } from '../readable.ts'

/** The JSON Schema of a plugin's settings; undefined for settings that have none, as a stranger's plugin may. */
export function jsonSchemaOf(schema: z.ZodType): Record<string, unknown> | undefined {
  return readable(() => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
}

import { jsonrepair } from 'jsonrepair'
import type { JsonObject } from '#kernel'
import { parseForeign } from '#kit'
import type { Fields } from './schema.ts'

/** The parameters of a function that stands for a tool of free text. */
export function freeTextParameters(format: Fields | null | undefined): JsonObject {
  const { type, syntax, definition } = format ?? {}
  const grammar = type === 'grammar' ? ` in this ${String(syntax)} grammar:\n${String(definition)}` : '.'
  const input = { type: 'string', description: `All of the input, as plain text${grammar}` }
  return { type: 'object', properties: { input }, required: ['input'], additionalProperties: false }
}

export const freeTextArguments = (input: string): string => JSON.stringify({ input })

/** The free text in a function's arguments. They may be cut off; a model may also have written the bare text. */
export function freeTextIn(json: string): string {
  const parsed = argumentsIn(json)
  return typeof parsed?.input === 'string' ? parsed.input : json
}

/** Arguments as an object, as far as they came; undefined for what is none. */
export function argumentsIn(json: string): JsonObject | undefined {
  if (!json.trimStart().startsWith('{')) return undefined
  for (const read of [parseForeign, (text: string) => parseForeign(jsonrepair(text))]) {
    try {
      return read(json) as JsonObject
    } catch {
      // What is cut off can still be repaired; what cannot be is no object.
    }
  }
  return undefined
}

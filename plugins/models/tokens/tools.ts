import type { JsonObject, Tool } from '#kernel'
import type { Tokenizer } from './tokenizer.ts'

/**
 * The tokens of definitions of tools, by the rule that OpenAI's cookbook gives for its models ("How to count tokens with
 * tiktoken"): a name and description, then a line for each property. Nested properties are counted likewise.
 */
export function toolTokens(tools: readonly Tool[], tokenizer: Tokenizer): number {
  const first = tokenizer.name === 'cl100k_base' ? 10 : 7
  const last = 12
  const each = tools.reduce((sum, tool) => sum + first + toolLine(tool, tokenizer), 0)
  return tools.length === 0 ? 0 : each + last
}

function toolLine(tool: Tool, tokenizer: Tokenizer): number {
  const definition = tool.function
  if (!definition) return tokenizer.count(JSON.stringify(tool))
  const { name, description = '', parameters } = definition
  return tokenizer.count(`${name}:${bare(description)}`) + propertyTokens(parameters, tokenizer)
}

function propertyTokens(schema: unknown, tokenizer: Tokenizer): number {
  const properties = objectOf(objectOf(schema)?.properties)
  const entries = Object.entries(properties ?? {})
  if (entries.length === 0) return 0
  return entries.reduce((sum, [name, value]) => sum + 3 + lineOf(name, value, tokenizer), 3)
}

function lineOf(name: string, value: unknown, tokenizer: Tokenizer): number {
  const { type = '', description = '', enum: values, items } = objectOf(value) ?? {}
  const listed = Array.isArray(values)
    ? values.reduce<number>((sum, item) => sum + 3 + tokenizer.count(String(item)), -3)
    : 0
  const line = tokenizer.count(`${name}:${String(type)}:${bare(String(description))}`)
  return line + listed + propertyTokens(value, tokenizer) + propertyTokens(items, tokenizer)
}

const bare = (text: string): string => text.replace(/\.$/, '')

const objectOf = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined

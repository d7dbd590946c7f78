import { child, type SchemaNode } from './keys.ts'

/**
 * The value a text stands for where the schema wants a number, true or false: what comes from the environment is
 * always text. Anything else stays as it is, for the schema to judge.
 */
export function fromText(text: string, node: SchemaNode | undefined): string | number | boolean {
  if (node?.type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  const numeric = node?.type === 'integer' || node?.type === 'number' || node?.anyOf !== undefined
  return numeric && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** `fromText` for every text inside a value, such as a module's settings with their references filled in. */
export function fromTexts(value: unknown, node: SchemaNode | undefined): unknown {
  if (typeof value === 'string') return fromText(value, node)
  if (Array.isArray(value)) return value.map((item) => fromTexts(item, node?.items))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, fromTexts(inner, child(node, key))]),
  )
}

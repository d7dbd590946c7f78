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

/**
 * A value of a plugin's as its schema wants it: texts by `fromText`, and what was left empty as an empty map where the
 * schema has keys, as null where it does not say what belongs there, else left out.
 */
export function fromTexts(value: unknown, node: SchemaNode | undefined): unknown {
  if (value === null || value === '') return ofEmpty(value, node)
  if (typeof value === 'string') return fromText(value, node)
  if (Array.isArray(value)) return value.map((item) => fromTexts(item, node?.items))
  if (typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]) => [key, fromTexts(inner, child(node, key))] as const)
      .filter(([, inner]) => inner !== undefined),
  )
}

function ofEmpty(value: null | '', node: SchemaNode | undefined): unknown {
  if (node?.type === 'object') return {}
  return node?.type === undefined && node?.anyOf === undefined ? value : undefined
}

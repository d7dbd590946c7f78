import type { z } from 'zod'
import { nearest } from '../kit/text/nearest.ts'
import type { Path, Problem } from './document.ts'
import { configKeys, type SchemaNode, schemaAt } from './keys.ts'

/** The problems of the parsed content, one entry for each key at fault. `hidden` tests whether a value must not be repeated. */
export function explain(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  schema: SchemaNode,
  hidden: (path: Path) => boolean,
): Problem[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String)
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(path, key, schema) }))
    }
    if (issue.code === 'invalid_key') {
      return [{ path, message: `${issue.issues[0]?.message ?? 'unexpected name'}, as the name` }]
    }
    const got = describe(valueAt(value, path), schemaAt(schema, path), hidden(path))
    const wanted = issue.message.replace(/^Invalid input: (expected .+), received .+$/, '$1')
    return [{ path, message: `${wanted}, got ${got}` }]
  })
}

/**
 * The message for a key that the schema at a path does not have. The settings of a module have nothing to do with a key of the
 * same name elsewhere in the file.
 */
export function unknownKey(path: Path, key: string, schema: SchemaNode): string {
  const here = Object.keys(schemaAt(schema, path)?.properties ?? {})
  const elsewhere = path[0] === 'modules' ? undefined : namesake(key)
  const [near] = nearest(key, here).map((name) => [...path, name].join('.'))
  const known = elsewhere ?? near
  return known === undefined ? 'unknown key' : `unknown key; the nearest known one is ${known}`
}

/** The path of a key of this name in another part of the file. */
const namesake = (key: string): string | undefined =>
  configKeys().find(({ path }) => !path.includes('<') && path.endsWith(`.${key}`))?.path

/** The value at a path inside a value. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value)
}

/** A value for a message: itself where that is short and cannot be a secret, else only its kind. */
function describe(value: unknown, node: SchemaNode | undefined, hidden: boolean): string {
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value !== 'string') return node?.['x-secret'] ? `a ${typeof value}` : String(value)
  const plain =
    node !== undefined && !node['x-secret'] && !node.properties && !node.items && !node.additionalProperties
  return plain && !hidden && value.length <= 60 ? JSON.stringify(value) : 'text'
}

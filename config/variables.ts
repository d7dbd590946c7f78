import { fromText } from './coerce.ts'
import { type Path, pathKey } from './document.ts'
import { type SchemaNode, schemaAt } from './keys.ts'
import type { Environment } from './references.ts'
import { environment } from './schema.ts'

/** The variables that are set and not empty, by the key each stands for. */
export function variablesOf(env: Environment): ReadonlyMap<string, string> {
  const set = [...environment].filter(([variable]) => env[variable])
  return new Map(set.map(([variable, at]) => [pathKey(at), variable]))
}

/** The content with those in it, read as the schema says. */
export function overlay(
  value: unknown,
  env: Environment,
  variables: ReadonlyMap<string, string>,
  jsonSchema: SchemaNode,
): unknown {
  return [...variables].reduce((content, [key, variable]) => {
    const at = key.split('\0')
    return withValue(content, at, fromText(env[variable] ?? '', schemaAt(jsonSchema, at)))
  }, value)
}

/** A copy with one value set; content that cannot hold it stays, for the schema to refuse. */
function withValue(content: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value
  if (typeof content !== 'object' || Array.isArray(content))
    return content ?? withValue({}, [key, ...rest], value)
  const record = (content ?? {}) as Readonly<Record<string, unknown>>
  return { ...record, [key]: withValue(record[key], rest, value) }
}

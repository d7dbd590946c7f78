import type { z } from 'zod'
import { nearest } from '../text/nearest.ts'
import { jsonSchemaOf } from './json-schema.ts'

/** The problem of a field, as text for its author; an absent field is called missing. */
export const problemOf = ({ message }: { readonly message: string }): string =>
  message.replace(/^Invalid input: (expected .+), received undefined$/, 'it is missing: $1')

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly additionalProperties?: Node
}

/** For keys that a schema does not have, its nearest ones, as the end of a message; nothing where none is near. */
export function nearestKeys(schema: z.ZodType, issues: readonly z.core.$ZodIssue[]): string {
  const near = issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return []
    const at = issue.path.reduce<Node | undefined>(
      (node, key) => node?.items ?? node?.properties?.[String(key)] ?? node?.additionalProperties,
      jsonSchemaOf(schema) as Node | undefined,
    )
    return issue.keys.flatMap((key) => nearest(key, Object.keys(at?.properties ?? {})).slice(0, 1))
  })
  return near.length > 0 ? `; the nearest known is ${near.join(', ')}` : ''
}

import type { z } from 'zod'
import { type Path, type Problem, pathKey } from './document.ts'
import type { SchemaNode } from './keys.ts'
import type { ConfigSource } from './lines.ts'
import { explain } from './problems.ts'

/** What the schema of a value refuses in it. */
interface Refused {
  readonly value: unknown
  readonly schema: SchemaNode
  readonly issues: readonly z.core.$ZodIssue[]
}

/** The problems of a value in the file that another schema than the file's governs, told as those of the file's own keys are. */
export function problemsAt(
  at: Path,
  { value, schema, issues }: Refused,
  { positions }: Pick<ConfigSource, 'positions'>,
): Problem[] {
  const file = at.reduceRight((inner, key) => ({ [key]: inner }), value)
  const around = at.reduceRight<SchemaNode>((inner, key) => ({ properties: { [key]: inner } }), schema)
  const placed = issues.map((issue) => ({ ...issue, path: [...at, ...issue.path] }))
  return explain(placed, file, around, (path) => positions.get(pathKey(path))?.expanded === true)
}

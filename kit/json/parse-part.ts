import type { z } from 'zod'
import { badRequest } from '../errors.ts'
import { nearestKeys, problemOf } from './problem-of.ts'

/** Parses a part of a request, which `where` names, by a schema; throws a bad request that lists the problems. */
export function parsePart(schema: z.ZodType | undefined, value: unknown, where: string): unknown {
  if (!schema) return undefined
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]!
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys : []
  const path = [...issue.path, ...unknown.slice(0, 1)].join('.')
  throw badRequest(
    `${path ? `${where} ${path}` : where}: ${problemOf(issue)}${nearestKeys(schema, [issue])}.`,
    {
      param: path || where,
      details: {
        problems: result.error.issues
          .slice(0, 20)
          .map((i) => ({ path: i.path.join('.'), message: problemOf(i) })),
      },
    },
  )
}

import type { z } from 'zod'
import { badRequest } from '../errors.ts'
import { shortened } from '../text/shortened.ts'
import { nearestKeys, problemOf } from './problem-of.ts'

/** Characters of the path to a field, and fields, that a refusal tells of. */
const most = { path: 400, problems: 20 }

/** Parses a part of a request, which `where` names, by a schema; throws a bad request that lists the problems. */
export function parsePart(schema: z.ZodType | undefined, value: unknown, where: string): unknown {
  if (!schema) return undefined
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]!
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys : []
  const path = pathOf([...issue.path, ...unknown.slice(0, 1)])
  throw badRequest(
    `${path ? `${where} ${path}` : where}: ${problemOf(issue)}${nearestKeys(schema, [issue])}.`,
    {
      param: path || where,
      details: {
        problems: result.error.issues
          .slice(0, most.problems)
          .map((i) => ({ path: pathOf(i.path), message: problemOf(i) })),
      },
    },
  )
}

const pathOf = (path: readonly PropertyKey[]): string => shortened(path.join('.'), most.path)

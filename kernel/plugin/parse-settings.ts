import type { z } from 'zod'
import { badRequest } from '../../kit/errors.ts'
import { explain } from '../../kit/explain.ts'
import { nearestKeys } from '../../kit/json/problem-of.ts'

/** Settings as a plugin's schema takes them. Throws a bad request that names the field. */
export function parseSettings(id: string, schema: z.ZodType, config: unknown): unknown {
  const { success, data, error } = schema.safeParse(config)
  if (success) return data
  const param = ['config', ...(error.issues[0]?.path ?? [])].join('.').slice(0, 400)
  const problem = `${explain(error)}${nearestKeys(schema, error.issues)}`
  throw badRequest(`The configuration of ${id} is not valid: ${problem}`, { param })
}

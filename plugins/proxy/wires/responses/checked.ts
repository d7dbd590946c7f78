import type { z } from 'zod'
import { badRequest } from '#kernel'

/** The value as the schema has it; throws a bad request that names the field, below `at`. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, at = ''): T {
  const { data, error } = schema.safeParse(value)
  if (error === undefined) return data as T
  const { path, message } = error.issues[0]!
  const param = [...(at === '' ? [] : [at]), ...path].join('.') || undefined
  throw badRequest(param ? `${param}: ${message}.` : 'The body must be a JSON object.', { param })
}

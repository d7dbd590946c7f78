import type { z } from 'zod'
import { refusalOf } from '../refusal.ts'

/** The value as the schema has it; throws a bad request that names the field, below `at`. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, at = ''): T {
  const { data, error } = schema.safeParse(value)
  if (error === undefined) return data as T
  throw refusalOf(error.issues[0]!, at)
}

import { z } from 'zod'
import { badRequest } from '../errors.ts'

/** The body of a change: each field may be absent, and stays as it is then, or null, which clears it. */
export const changeOf = <F extends Readonly<Record<string, z.ZodType>>>(fields: F) =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(fields).map(([field, schema]) => [field, schema.nullable().optional()]),
    ) as unknown as { [K in keyof F]: z.ZodOptional<z.ZodNullable<F[K]>> },
  )

/** What a change makes of an object, checked by its schema. Throws a bad request that names the field which does not fit. */
export function changed<T>(before: object, change: object, schema: z.ZodType<T>): T {
  const next: Record<string, unknown> = { ...before }
  for (const [field, value] of Object.entries(change)) {
    if (value === null) delete next[field]
    else if (value !== undefined) next[field] = value
  }
  const { error, data } = schema.safeParse(next)
  if (!error) return data
  const [{ path, message } = { path: [], message: '' }] = error.issues
  throw badRequest(`body ${path.join('.')}: ${message}.`, { param: path.join('.') })
}

import { badRequest } from '../errors.ts'

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** The key by which two requests of one caller are one; undefined without it. Throws a bad request for what is none. */
export function idempotencyKey({ 'idempotency-key': key }: Headers): string | undefined {
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[\x21-\x7e]{1,200}$/.test(key)) return key
  throw badRequest('Idempotency-Key has 1 to 200 visible ASCII characters.', { param: 'Idempotency-Key' })
}

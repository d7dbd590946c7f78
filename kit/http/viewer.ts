import type { Principal } from '../../kernel/call/call.ts'
import { forbidden } from '../errors.ts'

/** The user whose records a caller sees: the key's own, or undefined for an admin, who sees all. */
export function scopeOf(principal: Principal | undefined): string | undefined {
  if (principal?.type === 'admin') return undefined
  if (principal?.userId === undefined) throw forbidden('This key does not belong to a user.')
  return principal.userId
}

/** The user to filter by; a user's key gets a refusal for another user's records. */
export function forbidOthers(
  principal: Principal | undefined,
  asked: string | undefined,
): string | undefined {
  const own = scopeOf(principal)
  if (own === undefined || asked === undefined || asked === own) return own ?? asked
  throw forbidden("A user's key sees the user's own records only; leave user_id out.", { param: 'user_id' })
}

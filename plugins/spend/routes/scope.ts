import { forbidden, type Principal } from '#kernel'

/** The user whose spending a caller sees: the key's own, or undefined for an admin, who sees all. */
export function scopeOf(principal: Principal | undefined): string | undefined {
  if (principal?.type === 'admin') return undefined
  if (principal?.userId === undefined) throw forbidden('This key does not belong to a user.')
  return principal.userId
}

import type { Awaitable } from '../../kit/work/continue-with.ts'
import { continueWith } from '../../kit/work/continue-with.ts'
import type { Principal } from '../call/call.ts'
import { token } from '../token.ts'

/** The tenant that a user belongs to, on a gateway that several organisations share. */
export interface Tenants {
  /**
   * The tenant of a user, undefined for one without. Asked for every request of a user, so it answers from memory. When it
   * throws, the request fails.
   */
  tenantOf(userId: string): Awaitable<string | undefined>
}

/** The kernel asks it for the tenant of a caller. Without such a plugin no principal has a tenant. */
export const Tenants = token<Tenants>('tenants')

/** A principal with its user's tenant. */
export function withTenant(principal: Principal, tenants: Tenants | undefined): Awaitable<Principal> {
  if (!tenants || principal.userId === undefined) return principal
  return continueWith(tenants.tenantOf(principal.userId), (tenant) => ({ ...principal, tenant }))
}

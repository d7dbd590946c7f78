import type { Principal } from '../call/call.ts'
import type { Awaitable } from '../chain/hooks.ts'
import type { Tenants } from '../contract/tenants.ts'

/** A principal with its user's tenant. */
export function withTenant(principal: Principal, tenants: Tenants | undefined): Awaitable<Principal> {
  if (!tenants || principal.userId === undefined) return principal
  const found = tenants.tenantOf(principal.userId)
  return found instanceof Promise
    ? found.then((tenant) => ({ ...principal, tenant }))
    : { ...principal, tenant: found }
}

import { continueWith } from '../../kit/continue-with.ts'
import type { Principal } from '../call/call.ts'
import type { Awaitable } from '../chain/hooks.ts'
import type { Tenants } from '../contract/tenants.ts'

/** A principal with its user's tenant. */
export function withTenant(principal: Principal, tenants: Tenants | undefined): Awaitable<Principal> {
  if (!tenants || principal.userId === undefined) return principal
  return continueWith(tenants.tenantOf(principal.userId), (tenant) => ({ ...principal, tenant }))
}

import {
  type Context,
  forbidden,
  kernelServices,
  notFound,
  type Principal,
  Tenants,
  withTenant,
} from '#kernel'

interface Wanted {
  readonly key_id?: string | undefined
  readonly user_id?: string | undefined
}

/** The caller to explain. Only admins may name another; throws a not found for an unknown one. */
export async function callerOf(
  { use, find }: Context<unknown>,
  self: Principal,
  wanted: Wanted | undefined,
): Promise<Principal> {
  if (!wanted || (wanted.key_id === undefined && wanted.user_id === undefined)) return self
  if (self.type !== 'admin') throw forbidden('Only admins may explain calls of others.')
  const accounts = use(kernelServices.accounts)
  const key = wanted.key_id === undefined ? undefined : await accounts.keys.find(wanted.key_id)
  if (wanted.key_id !== undefined && !key)
    throw notFound(`There is no key ${wanted.key_id}.`, { param: 'caller' })
  if (key?.type === 'admin') return { ...self, keyId: key.id }
  const user = await accounts.user(key?.user_id ?? wanted.user_id ?? '')
  const principal = {
    type: 'user',
    keyId: key?.id ?? '',
    userId: user.id,
    plan: user.plan,
    tenant: undefined,
  } as const
  return withTenant(principal, find(Tenants))
}

import { z } from 'zod'
import { badRequest, type Key, kernelServices, notFound, type OnceContext, type Principal } from '#kernel'
import { scopeFields } from './scope.ts'
import type { Scopes } from './scopes.ts'

const path = '/api/modules/keyscope/keys/{keyId}'
const params = z.strictObject({ keyId: z.string() })

const scopeItem = z
  .object(scopeFields)
  .partial()
  .extend({ key_id: z.string(), created_at: z.string(), updated_at: z.string() })

const { models, endpoints, providers, expires_at, active_hours, max_tokens, read_only } = scopeFields
const scopeChange = z
  .strictObject({
    models: models.nullable(),
    endpoints: endpoints.nullable(),
    providers: providers.nullable(),
    expires_at: expires_at.nullable(),
    active_hours: active_hours.nullable(),
    max_tokens: max_tokens.nullable(),
    read_only: read_only.nullable(),
  })
  .partial()

/** To read, set and remove the scope of a key. Any key of a user can read what that user's keys may do. */
export function addRoutes({ route, use }: OnceContext, scopes: Scopes): void {
  /** To a user a key of another is none. */
  async function keyOf(keyId: string, caller?: Principal): Promise<Key> {
    const key = await use(kernelServices.accounts).keys.find(keyId)
    const isHidden = caller?.type === 'user' && key?.user_id !== caller.userId
    if (!key || isHidden) throw notFound(`There is no key ${keyId}.`, { param: 'keyId' })
    return key
  }
  const noScope = (keyId: string) => notFound(`The key ${keyId} has no scope.`, { param: 'keyId' })

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The scope of a key; users see their own keys',
    params,
    returns: scopeItem,
    async handle({ params: { keyId }, principal }) {
      await keyOf(keyId, principal)
      const scope = await scopes.get(keyId)
      if (!scope) throw noScope(keyId)
      return { key_id: keyId, ...scope }
    },
  })

  route({
    method: 'put',
    path,
    access: 'admin',
    summary: 'Limit a key; the new scope applies from its next call',
    params,
    body: scopeChange,
    returns: scopeItem,
    async handle({ params: { keyId }, body }) {
      const { type } = await keyOf(keyId)
      if (type === 'admin') {
        throw badRequest('An admin key cannot be limited: it could remove its own scope.', { param: 'keyId' })
      }
      return { key_id: keyId, ...(await scopes.change(keyId, body)) }
    },
  })

  route({
    method: 'delete',
    path,
    access: 'admin',
    summary: "Remove a key's scope",
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    async handle({ params: { keyId } }) {
      if (!(await scopes.delete(keyId))) throw noScope(keyId)
      return { deleted: true as const, id: keyId }
    },
  })
}

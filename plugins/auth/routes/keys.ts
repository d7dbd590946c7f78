import { z } from 'zod'
import {
  badRequest,
  type Context,
  conflict,
  forbidden,
  type Key,
  type KeyOwner,
  kernelServices,
  type Principal,
} from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import type { Holder } from '../holder.ts'
import type { KeyQuota, Working } from '../key-quota.ts'
import { keyItem, keyItemOf, name } from '../shapes.ts'

const monthS = 30 * 24 * 3600

const keyBody = z.strictObject({
  name: name.optional(),
  expires_at: z.iso
    .datetime({ offset: true })
    .optional()
    .meta({ description: 'Time at which the key stops working; never if absent.' }),
})

/** At least 32 characters: lists show sixteen of them. */
const importBody = keyBody.extend({
  key: z
    .string()
    .min(32)
    .max(256)
    .regex(/^(sy_|sk-sy-)[\w-]+$/, 'must start with sy_ or sk-sy-, followed by letters, digits, _ and -')
    .optional()
    .meta({ description: 'An existing key to import. If absent, a new one is made.' }),
})

const createdKey = keyItem.extend({
  api_key: z
    .string()
    .optional()
    .meta({ description: 'The new key, shown only once; absent for an imported key.' }),
})

const rotateBody = z.strictObject({
  grace_seconds: z.int().min(0).max(monthS).default(0).meta({
    description: 'Seconds for which the old key keeps working; 0 by default.',
  }),
})

const rotation = z.object({
  old_key_id: z.string(),
  new_key: z.string().meta({ description: 'Shown only once.' }),
  new_key_id: z.string(),
  rotated_at: z.string().meta({ format: 'date-time' }),
})

/** Keys of one kind of holder. */
export function addKeyRoutes({ route, use }: Context<unknown>, holder: Holder, quota: KeyQuota): void {
  const keys = () => use(kernelServices.accounts).keys
  /** Does what adds a key; the operator may have any number. */
  const adding = <T>(id: string, kind: Working, work: () => Promise<T>): Promise<T> =>
    holder.type === 'user' ? quota.add(keys(), id, kind, work) : work()
  const itemOf = (key: Key) => keyItemOf(key, keys().lastUse(key.id))
  const { access } = holder
  const body: z.ZodType<z.infer<typeof importBody>> = access === 'admin' ? importBody : keyBody

  route({
    method: 'get',
    path: `${holder.path}/keys`,
    access,
    summary: `List ${holder.whose} keys`,
    params: holder.params.bare,
    query: listQuery,
    returns: listOf('keys', keyItem),
    async handle(input) {
      const id = await holder.id(input)
      const page = await storedPage(input.query, (window) => keys().of(id, window))
      return listed('keys', shown(page, itemOf), input.query)
    },
  })

  route({
    method: 'post',
    path: `${holder.path}/keys`,
    access,
    summary: access === 'admin' ? `Make or import one of ${holder.whose} keys` : 'Make yourself a key',
    params: holder.params.bare,
    body,
    status: 201,
    returns: createdKey,
    throws: [409],
    async handle(input) {
      const id = await holder.id(input)
      const { key, name, expires_at } = input.body
      const options = { name, expiresAt: expires_at && inFuture(expires_at) }
      const userId = holder.type === 'user' ? id : undefined
      return adding(id, 'current', async () => {
        if (key !== undefined) return itemOf(await keys().import(key, ownerOf(key, holder, userId), options))
        const issued = await keys().issue({ type: holder.type, userId }, options)
        return { ...itemOf(issued.key), api_key: issued.secret }
      })
    },
  })

  route({
    method: 'delete',
    path: `${holder.path}/keys/{keyId}`,
    access,
    summary: `Revoke one of ${holder.whose} keys`,
    params: holder.params.key,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [409],
    async handle(input) {
      const id = await holder.id(input)
      const key = await keys().get(id, input.params.keyId)
      refuseForeignType(key, holder)
      if (key.type === 'admin') refuseLockout(key, input.principal!)
      await keys().revoke(id, key.id)
      return { deleted: true as const, id: key.id }
    },
  })

  route({
    method: 'post',
    path: `${holder.path}/keys/{keyId}/rotate`,
    access,
    summary: `Replace one of ${holder.whose} keys with a new one`,
    params: holder.params.key,
    body: rotateBody,
    returns: rotation,
    throws: [409],
    async handle(input) {
      const id = await holder.id(input)
      const old = await keys().get(id, input.params.keyId)
      refuseForeignType(old, holder)
      const { grace_seconds: grace } = input.body
      const rotate = () => keys().rotate(id, old.id, grace)
      const { key, secret } = await (grace > 0 ? adding(id, 'replaced', rotate) : rotate())
      return { old_key_id: old.id, new_key: secret, new_key_id: key.id, rotated_at: key.created_at }
    },
  })
}

/** The type of an imported key, by its prefix. */
function ownerOf(key: string, { type }: Holder, userId: string | undefined): KeyOwner {
  const isAdmin = key.startsWith('sy_admin_')
  if (type === 'admin' && !isAdmin) {
    throw badRequest('body key: an admin key starts with sy_admin_; add others to a user.', { param: 'key' })
  }
  return { type: isAdmin ? 'admin' : 'user', userId }
}

function inFuture(text: string): string {
  const time = Date.parse(text)
  if (time <= Date.now()) throw badRequest('body expires_at: must be in the future.', { param: 'expires_at' })
  return new Date(time).toISOString()
}

/** A user key must not become an admin's by way of an admin key that its user holds. */
function refuseForeignType(key: Key, { access }: Holder): void {
  if (key.type === 'admin' && access !== 'admin') {
    throw forbidden(`The key ${key.id} is an admin key; an admin key is needed to change it.`)
  }
}

function refuseLockout(key: Key, { keyId }: Principal): void {
  if (key.id === keyId)
    throw conflict('This is the key of this request; rotate it instead.', { param: 'keyId' })
}

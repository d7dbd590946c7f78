import { z } from 'zod'
import { type Context, kernelServices, noUser, Plans } from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import { email, idParam, name, newAccount, planOf, profile, profileOf } from '../shapes.ts'
import { createAccount } from './account.ts'

const userParams = z.strictObject({ id: idParam })
/** Things by the plugin that keeps them. */
const sums = z.record(z.string(), z.int())

/** Users, for admins. */
export function addUserRoutes(context: Context<unknown>): void {
  const { route, use } = context
  const plan = planOf(use(Plans))

  route({
    method: 'get',
    path: '/api/auth/users',
    access: 'admin',
    summary: 'The users',
    query: listQuery,
    returns: listOf('users', profile),
    async handle({ query }) {
      const page = await storedPage(query, (window) => use(kernelServices.accounts).users(window))
      return listed('users', shown(page, profileOf), query)
    },
  })

  route({
    method: 'post',
    path: '/api/auth/users',
    access: 'admin',
    summary: 'Create a user and its first key',
    body: z.strictObject({ email, name: name.optional(), plan: plan.optional() }),
    status: 201,
    returns: newAccount,
    throws: [409],
    handle: ({ body }) => createAccount(context, body),
  })

  route({
    method: 'get',
    path: '/api/auth/users/{id}',
    access: 'admin',
    summary: 'One user',
    params: userParams,
    returns: profile,
    handle: async ({ params }) => profileOf(await use(kernelServices.accounts).user(params.id)),
  })

  route({
    method: 'put',
    path: '/api/auth/users/{id}',
    access: 'admin',
    summary: 'Change a user’s plan or name',
    params: userParams,
    body: z.strictObject({ plan: plan.optional(), name: name.nullable().optional() }),
    returns: profile,
    handle: async ({ params, body }) =>
      profileOf(await use(kernelServices.accounts).changeUser(params.id, body)),
  })

  route({
    method: 'delete',
    path: '/api/auth/users/{id}',
    access: 'admin',
    summary: 'Delete a user with all keys, provider keys, usage and stored responses',
    params: userParams,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    async handle({ params: { id } }) {
      const wasThere = await use(kernelServices.accounts).deleteUser(id)
      // Also when the account is gone: what a killed process left is erased by asking again.
      await use(kernelServices.personal).erase({ kind: 'user', id }, 'deletion')
      if (!wasThere) throw noUser(id)
      return { deleted: true as const, id }
    },
  })

  route({
    method: 'get',
    path: '/api/auth/users/{id}/data',
    access: 'admin',
    summary: 'Count the personal data of a user by plugin, also of a deleted user',
    params: userParams,
    returns: z.object({ user_id: z.string(), kept: sums }),
    handle: async ({ params: { id } }) => ({
      user_id: id,
      kept: await use(kernelServices.personal).count({ kind: 'user', id }),
    }),
  })

  route({
    method: 'delete',
    path: '/api/auth/users/{id}/data',
    access: 'admin',
    summary: 'Erase the personal data of a user, also of a deleted user; the account stays',
    params: userParams,
    returns: z.object({ user_id: z.string(), erased: sums }),
    async handle({ params: { id } }) {
      const erased = await use(kernelServices.personal).erase({ kind: 'user', id }, 'request')
      // Until then the bytes of deleted rows are in the files.
      await use(kernelServices.storage).compact()
      return { user_id: id, erased }
    },
  })
}

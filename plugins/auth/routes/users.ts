import { z } from 'zod'
import { type Context, kernelServices } from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import { ProviderKeys } from '#provider'
import type { UsageMeter } from '../meter.ts'
import { email, idParam, name, newAccount, plan, profile, profileOf } from '../shapes.ts'
import { createAccount } from './account.ts'

const userParams = z.strictObject({ id: idParam })

/** Users, for admins. */
export function addUserRoutes(context: Context<unknown>, meter: UsageMeter): void {
  const { route, use } = context

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
      await use(ProviderKeys).deleteOf(id)
      await use(kernelServices.accounts).deleteUser(id)
      meter.clear(id)
      return { deleted: true as const, id }
    },
  })
}

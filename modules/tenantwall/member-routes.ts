import { z } from 'zod'
import { type Context, kernelServices, notFound } from '#kernel'
import { listed, listOf, listQuery, storedPage } from '#kit'
import { storedMember } from './records.ts'
import type { Tenancy } from './tenants.ts'

const params = z.strictObject({ id: z.string().max(256) })
const userParams = params.extend({ userId: z.string().max(256) })

/** The users of tenants, for admins. */
export function addMemberRoutes({ route, use }: Context<unknown>, tenancy: Tenancy, base: string): void {
  route({
    method: 'get',
    path: `${base}/{id}/users`,
    access: 'admin',
    summary: 'The users of a tenant',
    params,
    query: listQuery,
    returns: listOf('users', storedMember),
    async handle({ params: { id }, query }) {
      tenancy.get(id)
      return listed('users', await storedPage(query, (window) => tenancy.members(id, window)), query)
    },
  })

  route({
    method: 'put',
    path: `${base}/{id}/users/{userId}`,
    access: 'admin',
    summary: 'Add a user to a tenant; it applies from the next request of the user',
    params: userParams,
    returns: storedMember,
    throws: [409],
    async handle({ params: { id, userId } }) {
      await use(kernelServices.accounts).user(userId)
      return await tenancy.add(id, userId)
    },
  })

  route({
    method: 'delete',
    path: `${base}/{id}/users/{userId}`,
    access: 'admin',
    summary: 'Remove a user from a tenant; what the user owns stays with the user',
    params: userParams,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    async handle({ params: { id, userId } }) {
      if (!(await tenancy.remove(userId, id))) {
        throw notFound(`The tenant ${id} has no user ${userId}.`, { param: 'userId' })
      }
      return { deleted: true as const, id: userId }
    },
  })
}

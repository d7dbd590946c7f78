import { z } from 'zod'
import { type Context, conflict, kernelServices, notFound } from '#kernel'
import { listed, listOf, listQuery, storedPage } from '#kit'
import { addMemberRoutes } from './member-routes.ts'
import { quotaState, quotasChange, quotasSchema, stateOf } from './quotas.ts'
import type { Tenant } from './records.ts'
import { noTenant, type Tenancy } from './tenants.ts'
import type { Wall } from './wall.ts'

const base = '/api/modules/tenantwall/tenants'
const params = z.strictObject({ id: z.string().max(256) })
const name = z.string().trim().min(1).max(200)
const suspended = z.boolean().meta({ description: 'Whether its users are refused, with everything they do.' })

const tenantItem = z.object({
  id: z.string(),
  name,
  suspended,
  quotas: quotasSchema,
  users: z.int().meta({ description: 'How many users it has.' }),
  created_at: z.string(),
  updated_at: z.string(),
})
const usage = z.object({ id: z.string(), name, quotas: z.array(quotaState) })
const deleted = z.object({ deleted: z.literal(true), id: z.string() })

/** Tenants and their users, for admins; and its own quotas for a user. */
export function addRoutes(context: Context<unknown>, tenancy: Tenancy, wall: Wall): void {
  const { route, use } = context
  const itemOf = async (tenant: Tenant) => ({ ...tenant, users: await tenancy.count(tenant.id) })
  const usageOf = async (tenant: Tenant) => {
    const claims = wall.claims(tenant)
    const left = await wall.budget.left(claims)
    return { id: tenant.id, name: tenant.name, quotas: claims.map((claim, i) => stateOf(claim, left[i]!)) }
  }
  addMemberRoutes(context, tenancy, base)

  route({
    method: 'get',
    path: base,
    access: 'admin',
    summary: 'The tenants',
    query: listQuery,
    returns: listOf('tenants', tenantItem),
    async handle({ query }) {
      const page = await storedPage(query, (window) => tenancy.list(window))
      return listed('tenants', { ...page, items: await Promise.all(page.items.map(itemOf)) }, query)
    },
  })

  route({
    method: 'post',
    path: base,
    access: 'admin',
    summary: 'Create a tenant with its first users',
    body: z.strictObject({
      name,
      suspended: suspended.default(false),
      quotas: quotasSchema.default({}),
      users: z
        .array(z.string().max(256))
        .max(500)
        .default([])
        .meta({ description: 'Ids of users that are in no tenant.' }),
    }),
    status: 201,
    returns: tenantItem,
    throws: [404, 409],
    async handle({ body }) {
      for (const user of body.users) await use(kernelServices.accounts).user(user)
      return await itemOf(await tenancy.create(body.name, body.quotas, body.suspended, body.users))
    },
  })

  route({
    method: 'get',
    path: `${base}/{id}`,
    access: 'admin',
    summary: 'One tenant',
    params,
    returns: tenantItem,
    handle: ({ params: { id } }) => itemOf(tenancy.get(id)),
  })

  route({
    method: 'put',
    path: `${base}/{id}`,
    access: 'admin',
    summary: 'Rename a tenant, suspend it or change its quotas',
    params,
    body: z.strictObject({ name, suspended, quotas: quotasChange.nullable() }).partial(),
    returns: tenantItem,
    handle: async ({ params: { id }, body }) => itemOf(await tenancy.change(id, body)),
  })

  route({
    method: 'delete',
    path: `${base}/{id}`,
    access: 'admin',
    summary: 'Delete a tenant with the data that plugins keep of it; its users stay, in no tenant',
    params,
    query: z.strictObject({
      force: z.stringbool().default(false).meta({ description: 'Also while it has users.' }),
    }),
    returns: deleted,
    throws: [409],
    async handle({ params: { id }, query: { force } }) {
      const users = await tenancy.count(id)
      if (tenancy.find(id) && users > 0 && !force) {
        throw conflict(`The tenant has ${users} users: remove them first, or send force=true.`, {
          param: 'force',
        })
      }
      const wasThere = await tenancy.delete(id)
      // Also when it is gone: what a killed process left is erased by asking again.
      await use(kernelServices.personal).erase({ kind: 'tenant', id }, 'deletion')
      if (!wasThere) throw noTenant(id)
      return { deleted: true as const, id }
    },
  })

  route({
    method: 'get',
    path: `${base}/{id}/usage`,
    access: 'admin',
    summary: 'How the quotas of a tenant stand',
    params,
    returns: usage,
    handle: ({ params: { id } }) => usageOf(tenancy.get(id)),
  })

  route({
    method: 'get',
    path: '/api/modules/tenantwall/tenant',
    access: 'user',
    summary: 'Your tenant, and how its quotas stand',
    returns: usage,
    handle({ principal }) {
      const tenant = principal?.tenant === undefined ? undefined : tenancy.find(principal.tenant)
      if (!tenant) throw notFound('Your user belongs to no tenant.')
      return usageOf(tenant)
    },
  })
}

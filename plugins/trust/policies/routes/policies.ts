import { z } from 'zod'
import { badRequest, type Context, newId, notFound } from '#kernel'
import { changed, listed, listOf, listQuery, shown, storedPage, trustPolicy, Writes } from '#kit'
import { normalised } from '../normalise.ts'
import { mostPolicies, type Policies } from '../policies.ts'
import { type PolicyRow, policyChange, policyItem } from '../shapes.ts'
import type { Violations } from '../violations.ts'

const path = '/api/trust/policies/{id}'
const params = z.strictObject({ id: z.string().max(100) })

/** To list, create, change and delete policies, for admins. A change is in the configuration's history. */
export function addPolicyRoutes(
  { route }: Pick<Context<unknown>, 'route'>,
  policies: Policies,
  violations: Violations,
): void {
  // A change is made of what a policy is: of two at once the later sees what the earlier has made.
  const changes = new Writes()
  const itemOf = (row: PolicyRow) => ({ ...row, hits_24h: violations.hitsOf(row.id) })
  async function rowOf(id: string): Promise<PolicyRow> {
    const row = await policies.rows.get(id)
    if (!row) throw notFound(`There is no policy ${id}.`, { param: 'id' })
    return row
  }

  route({
    method: 'get',
    path: '/api/trust/policies',
    access: 'admin',
    summary: 'The trust policies',
    query: listQuery,
    returns: listOf('policies', policyItem),
    async handle({ query }) {
      const page = await storedPage(query, (window) => policies.rows.list(window))
      return listed('policies', shown(page, itemOf), query)
    },
  })

  route({
    method: 'post',
    path: '/api/trust/policies',
    access: 'admin',
    summary: 'Add a trust policy; it holds for the next call',
    body: trustPolicy,
    status: 201,
    returns: policyItem,
    throws: [409],
    async handle(input) {
      if (policies.all.length >= mostPolicies)
        throw badRequest(`There are ${mostPolicies} policies; delete some first.`, { param: 'name' })
      const id = newId('pol_')
      const now = new Date().toISOString()
      const row = { id, ...normalised(input.body), version: 1, created_at: now, updated_at: now }
      await policies.set(id, row, input)
      return itemOf(row)
    },
  })

  route({
    method: 'get',
    path,
    access: 'admin',
    summary: 'Show a trust policy',
    params,
    returns: policyItem,
    throws: [404],
    handle: async ({ params: { id } }) => itemOf(await rowOf(id)),
  })

  route({
    method: 'put',
    path,
    access: 'admin',
    summary: 'Change a trust policy; null clears a field',
    params,
    body: policyChange,
    returns: policyItem,
    throws: [404, 409],
    handle(input) {
      const { id } = input.params
      return changes.run(id, async () => {
        const { id: _, version, created_at, updated_at, ...before } = await rowOf(id)
        const policy = normalised(changed(before, input.body, trustPolicy))
        const row = { id, ...policy, version: version + 1, created_at, updated_at: new Date().toISOString() }
        await policies.set(id, row, input)
        return itemOf(row)
      })
    },
  })

  route({
    method: 'delete',
    path,
    access: 'admin',
    summary: 'Delete a trust policy',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [404, 409],
    handle(input) {
      const { id } = input.params
      return changes.run(id, async () => {
        await rowOf(id)
        await policies.set(id, undefined, input)
        return { deleted: true as const, id }
      })
    },
  })
}

import { z } from 'zod'
import { type Context, notFound, type Principal } from '#kernel'
import { deferredResult, listed, listOf, listQuery, scopeOf, shown, storedPage } from '#kit'
import type { BatchQueue } from './queue.ts'
import { type BatchRow, batchStatuses } from './row.ts'

export const path = '/api/modules/batchqueue/calls'
const params = z.strictObject({ id: z.string().min(1).max(100) })

const item = z.object({
  id: z.string(),
  status: z.enum(batchStatuses),
  model: z.string(),
  project: z.string(),
  user_id: z.string().nullable(),
  created_at: z.string().meta({ format: 'date-time' }),
  ended_at: z.string().nullable().meta({ format: 'date-time' }),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
})

const itemOf = ({ ended_at, error, ...row }: BatchRow): z.infer<typeof item> => ({
  ...row,
  ended_at: ended_at ?? null,
  error: error ?? null,
})

/** The calls that were put off: users see and end their own, admins all. */
export function addRoutes({ route }: Pick<Context<unknown>, 'route'>, queue: BatchQueue): void {
  async function find(id: string, principal: Principal | undefined): Promise<BatchRow> {
    const user = scopeOf(principal)
    const row = await queue.get(id)
    if (!row || (user !== undefined && row.user_id !== user))
      throw notFound(`There is no call ${id} in the queue.`, { param: 'id' })
    return row
  }

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The calls that were put off, newest first: your own, or with an admin key all',
    query: listQuery,
    returns: listOf('calls', item),
    throws: [403],
    async handle({ query, principal }) {
      const user = scopeOf(principal)
      const page = await storedPage(query, (window) => queue.list(user, window))
      return listed('calls', shown(page, itemOf), query)
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'A call that was put off, with its answer once it has one',
    params,
    returns: item.extend(deferredResult.pick({ trace_id: true, response: true }).shape),
    throws: [403, 404],
    async handle({ params: { id }, principal }) {
      const row = await find(id, principal)
      const result = await queue.resultOf(id)
      return { ...itemOf(row), trace_id: result?.trace_id ?? null, response: result?.response ?? null }
    },
  })

  route({
    method: 'post',
    path: `${path}/{id}/cancel`,
    access: 'any',
    summary: 'End a call that was put off, also while the provider works on it',
    params,
    returns: item,
    throws: [403, 404, 409],
    async handle({ params: { id }, principal }) {
      await find(id, principal)
      await queue.cancel(id)
      return itemOf(await find(id, principal))
    },
  })
}

import { z } from 'zod'
import { type Context, notFound, type Principal } from '#kernel'
import {
  addEndRoutes,
  fileAnswer,
  listed,
  listOf,
  listQuery,
  onlyShared,
  scopeOf,
  shown,
  storedPage,
  usdOf,
} from '#kit'
import { batchPath as path } from '../addressed.ts'
import type { Batches } from './batches.ts'
import { type BatchRow, batchStatuses, isOver, itemStatuses } from './rows.ts'
import { batchItem, itemDetail, shownBatch } from './shown.ts'

export const byId = z.strictObject({ id: z.string().min(1).max(100) })

/** The batch of this id, if the caller may see it. Throws a not found. */
export async function findBatch(
  { store }: Batches,
  id: string,
  principal: Principal | undefined,
): Promise<BatchRow> {
  const user = scopeOf(principal)
  const row = await store.batches.get(id)
  if (row && (user === undefined || row.principal.userId === user || row.visibility === 'shared')) return row
  throw notFound(`There is no batch ${id}.`, { param: 'id' })
}

/** The same, for a change. Throws a forbidden for one that is only shared with the caller. */
export async function findOwnBatch(
  batches: Batches,
  id: string,
  principal: Principal | undefined,
): Promise<BatchRow> {
  const row = await findBatch(batches, id, principal)
  const user = scopeOf(principal)
  if (user === undefined || row.principal.userId === user) return row
  throw onlyShared('The batch', 'id')
}

/** Batches: users see and end their own, and see those that are shared; admins all. */
export function addBatchRoutes(context: Pick<Context<unknown>, 'route'>, batches: Batches): void {
  const { route } = context
  const { store, texts } = batches

  const find = (id: string, principal: Principal | undefined) => findBatch(batches, id, principal)

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The batches, newest first: your own and those that are shared, or with an admin key all',
    query: listQuery.extend({ status: z.enum(batchStatuses).optional() }),
    returns: listOf('batches', batchItem),
    throws: [403],
    async handle({ query, principal }) {
      const filter = { user: scopeOf(principal), status: query.status }
      const page = await storedPage(query, (window) => store.list(filter, window))
      return listed('batches', shown(page, shownBatch), query)
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'A batch, and how far it is',
    params: byId,
    returns: batchItem,
    throws: [403, 404],
    handle: async ({ params: { id }, principal }) => shownBatch(await find(id, principal)),
  })

  route({
    method: 'get',
    path: `${path}/{id}/items`,
    access: 'any',
    summary: 'The items of a batch with what came of them, in the order of the inputs',
    params: byId,
    query: listQuery.extend({ status: z.enum(itemStatuses).optional() }),
    returns: listOf('items', itemDetail),
    throws: [403, 404],
    async handle({ params: { id }, query, principal }) {
      await find(id, principal)
      const { items: rows, ...page } = await storedPage(query, (window) =>
        store.items.page(id, query.status, window),
      )
      const items = await Promise.all(
        rows.map(async (row) => ({
          ...(await texts.resultOf(row)),
          input: (await texts.read(row, 'input'))?.value ?? null,
          attempts: row.attempts,
          tokens_in: row.tokens_in,
          tokens_out: row.tokens_out,
          cost_usd: usdOf(row.cost_nano),
        })),
      )
      return listed('items', { ...page, items }, query)
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}/results`,
    access: 'any',
    summary:
      'The results of a batch so far as a file, a line of JSON for each item, in the order of the inputs',
    params: byId,
    query: z.strictObject({ status: z.enum(['succeeded', 'failed']).optional() }),
    returns: fileAnswer,
    throws: [403, 404],
    async handle({ params: { id }, query: { status }, principal }) {
      await find(id, principal)
      const name = `${id}.${status ?? 'results'}.jsonl`
      return { body: texts.lines(id, status), name, type: 'application/jsonl' }
    },
  })

  addEndRoutes(context, {
    path: `${path}/{id}`,
    params: byId,
    verb: 'cancel',
    summaries: {
      end: 'End a batch; the connections of its calls are closed, and what has ended in it stays',
      delete: 'Delete a batch with its items; its traces and runs stay',
    },
    goesOn: 'The batch has not ended',
    returns: batchItem,
    find: ({ id }, principal) => findOwnBatch(batches, id, principal),
    isOver: (row) => isOver(row),
    end: (row) => batches.cancel(row),
    delete: (row) => batches.delete(row),
    show: shownBatch,
  })
}

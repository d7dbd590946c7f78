import { z } from 'zod'
import { type Context, conflict, type Principal } from '#kernel'
import { nanoOf, storePrincipal } from '#kit'
import { batchPath as path } from '../addressed.ts'
import type { Batches } from './batches.ts'
import { completionWindow, endOf, maxCost } from './input.ts'
import { byId, findOwnBatch } from './routes.ts'
import { type BatchRow, isOver } from './rows.ts'
import { batchItem, shownBatch } from './shown.ts'

/** What may be said of a batch that goes on. */
const goingOn = z
  .strictObject({ max_cost_usd: maxCost.optional(), completion_window: completionWindow.optional() })
  .prefault({})

/** To have a batch wait, go on, and make again what has failed in it. */
export function addTurnRoutes({ route }: Pick<Context<unknown>, 'route'>, batches: Batches): void {
  route({
    method: 'post',
    path: `${path}/{id}/pause`,
    access: 'any',
    summary: 'Have a batch wait; the connections of its calls are closed, and these are made again later',
    params: byId,
    returns: batchItem,
    throws: [403, 404, 409],
    async handle({ params: { id }, principal }) {
      await batches.pause(await findOwnBatch(batches, id, principal))
      return shownBatch(await findOwnBatch(batches, id, principal))
    },
  })

  route({
    method: 'post',
    path: `${path}/{id}/resume`,
    access: 'any',
    summary: 'Have a paused batch go on, also with more money or time',
    params: byId,
    body: goingOn,
    returns: batchItem,
    throws: [403, 404, 409],
    async handle({ params: { id }, body, principal }) {
      await findOwnBatch(batches, id, principal)
      const resumed = await batches.resume(id, (row) =>
        row.status === 'paused' ? goingOnWith(row, body, principal!) : undefined,
      )
      if (!resumed) throw conflict('The batch is not paused.', { param: 'id' })
      return shownBatch(resumed)
    },
  })

  route({
    method: 'post',
    path: `${path}/{id}/retry`,
    access: 'any',
    summary: 'Have the items of an ended batch made again that have failed, and those that were not made',
    params: byId,
    body: goingOn,
    returns: batchItem,
    throws: [403, 404, 409],
    async handle({ params: { id }, body, principal }) {
      const before = await findOwnBatch(batches, id, principal)
      if (!isOver(before)) throw conflict('The batch has not ended.', { param: 'id' })
      await batches.store.items.reopen(id)
      const again = await batches.resume(id, (row) =>
        isOver(row) && row.succeeded + row.failed < row.total
          ? goingOnWith(row, { completion_window: '24h', ...body }, principal!)
          : undefined,
      )
      if (!again)
        throw conflict('All items of the batch have succeeded, or are made again already.', { param: 'id' })
      return shownBatch(again)
    },
  })
}

/** A batch with what its owner says about how it goes on, and with the key that the owner says it with. */
function goingOnWith(
  row: BatchRow,
  { max_cost_usd: most, completion_window: window }: z.infer<typeof goingOn>,
  caller: Principal,
): BatchRow {
  return {
    ...row,
    ...(most !== undefined && { max_cost_nano: nanoOf(most) }),
    ...(window !== undefined && { expires_at: endOf(window) }),
    // An admin has the batch of a user go on at the user's expense.
    ...(caller.userId === row.principal.userId && { principal: storePrincipal(caller) }),
  }
}

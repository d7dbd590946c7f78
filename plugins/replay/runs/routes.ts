import { z } from 'zod'
import type { Context } from '#kernel'
import { listed, listOf, listQuery, scopeOf, shown, storedPage } from '#kit'
import { itemOf, runDetail, runItem } from './row.ts'
import type { Runs } from './runs.ts'
import type { ShownRuns } from './shown.ts'

const path = '/api/replay/runs'
const params = z.strictObject({ id: z.string().min(1).max(100) })

/** The runs that are kept: users see and delete their own, admins all. */
export function addRunRoutes({ route }: Pick<Context<unknown>, 'route'>, runs: Runs, shownRuns: ShownRuns) {
  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The runs, newest first: your own, or with an admin key all',
    query: listQuery.extend({
      model: z.string().min(1).max(256).optional().meta({ description: 'The model that was asked.' }),
    }),
    returns: listOf('runs', runItem),
    throws: [403],
    async handle({ query: { model, ...query }, principal }) {
      const user = scopeOf(principal)
      const page = await storedPage(query, (options) => runs.list({ user, model }, options))
      return listed('runs', shown(page, itemOf), query)
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'A run with its request and both answers',
    params,
    returns: runDetail,
    throws: [403, 404],
    handle: async ({ params: { id }, principal }) => shownRuns.stored(await shownRuns.find(id, principal)),
  })

  route({
    method: 'delete',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Delete a run; its traces stay',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [403, 404],
    async handle({ params, principal }) {
      const { id } = await shownRuns.find(params.id, principal)
      await runs.delete(id)
      return { deleted: true as const, id }
    },
  })
}

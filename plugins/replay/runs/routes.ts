import { z } from 'zod'
import { type Context, conflict } from '#kernel'
import { listed, listOf, listQuery, scopeOf, shown, storedPage } from '#kit'
import type { RunMaker } from './make.ts'
import { itemOf, runDetail, runItem } from './row.ts'
import type { Runs } from './runs.ts'
import type { ShownRuns } from './shown.ts'

const path = '/api/replay/runs'
const params = z.strictObject({ id: z.string().min(1).max(100) })

/** The runs that are kept: users see and delete their own, admins all. */
export function addRunRoutes(
  { route }: Pick<Context<unknown>, 'route'>,
  runs: Runs,
  maker: RunMaker,
  shownRuns: ShownRuns,
): void {
  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The runs, newest first: your own, or with an admin key all',
    query: listQuery.extend({
      model: z.string().min(1).max(256).optional().meta({ description: 'The model that was asked.' }),
      visibility: z
        .literal('shared')
        .optional()
        .meta({ description: 'The runs of admins that are for all, in place of your own.' }),
    }),
    returns: listOf('runs', runItem),
    throws: [403],
    async handle({ query: { model, visibility, ...query }, principal }) {
      const filter = { user: scopeOf(principal), model, areShared: visibility === 'shared' }
      const page = await storedPage(query, (options) => runs.list(filter, options))
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
    query: z.strictObject({
      force: z.stringbool().default(false).meta({ description: 'Ends a run that is under way first.' }),
    }),
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [403, 404, 409],
    async handle({ params, query: { force }, principal }) {
      const { id, status } = await shownRuns.findOwn(params.id, principal)
      if (status === 'running' && !force)
        throw conflict(`The run ${id} is under way. Wait for its end, or delete it with force=true.`, {
          param: 'id',
        })
      maker.stop(id)
      await runs.delete(id)
      return { deleted: true as const, id }
    },
  })
}

import { z } from 'zod'
import { type Context, notFound, type Principal } from '#kernel'
import { addEndRoutes, listed, listOf, listQuery, scopeOf, shown, storedPage } from '#kit'
import { runsPath as path } from '../addressed.ts'
import { slug } from '../workflows/step.ts'
import { isOver, type RunRow, runStatuses } from './rows.ts'
import type { Runs } from './runs.ts'
import { runDetail, runItem, shownRun, shownStep, stepItem } from './shown.ts'

export const byId = z.strictObject({ id: z.string().min(1).max(100) })

/** The run of this id, if the caller may see it. Throws a not found. */
export async function findRun(runs: Runs, id: string, principal: Principal | undefined): Promise<RunRow> {
  const user = scopeOf(principal)
  const row = await runs.store.runs.get(id)
  if (row && (user === undefined || row.principal.userId === user)) return row
  throw notFound(`There is no run ${id}.`, { param: 'id' })
}

/** Runs: users see and end their own, admins all. */
export function addRunRoutes({ route }: Pick<Context<unknown>, 'route'>, runs: Runs): void {
  const { store } = runs

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The runs, newest first: your own, or with an admin key all',
    query: listQuery.extend({ status: z.enum(runStatuses).optional(), workflow: slug.optional() }),
    returns: listOf('runs', runItem),
    throws: [403],
    async handle({ query, principal }) {
      const { status, workflow } = query
      const user = scopeOf(principal)
      const page = await storedPage(query, (window) => store.list({ user, status, workflow }, window))
      return listed('runs', shown(page, shownRun), query)
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'A run with its input and its output',
    params: byId,
    returns: runDetail,
    throws: [403, 404],
    handle: async ({ params: { id }, principal }) => runs.texts.detailOf(await findRun(runs, id, principal)),
  })

  addEndRoutes(
    { route },
    {
      path: `${path}/{id}`,
      params: byId,
      verb: 'cancel',
      summaries: {
        end: 'End a run; the connections of its calls are closed',
        delete: 'Delete a run with its steps',
      },
      goesOn: 'The run has not ended',
      returns: runDetail,
      find: ({ id }, principal) => findRun(runs, id, principal),
      isOver: (row) => isOver(row),
      end: ({ id }) => runs.cancel(id),
      delete: ({ id }) => runs.delete(id),
      show: (row) => runs.texts.detailOf(row),
    },
  )

  route({
    method: 'get',
    path: `${path}/{id}/steps`,
    access: 'any',
    summary: 'The steps of a run, in the order in which they began',
    params: byId,
    query: listQuery,
    returns: listOf('steps', stepItem),
    throws: [403, 404],
    async handle({ params: { id }, query, principal }) {
      const run = await findRun(runs, id, principal)
      const { items: rows, ...page } = await storedPage(query, (window) => store.steps.list(id, window))
      const items = await Promise.all(
        rows.map(async (row) =>
          shownStep(run, row, {
            input: await runs.texts.read(row.input),
            output: await runs.texts.read(row.output),
          }),
        ),
      )
      return listed('steps', { ...page, items }, query)
    },
  })
}

import { z } from 'zod'
import { type Context, conflict, type Principal } from '#kernel'
import { addEndRoutes, checkVisibility, listed, listOf, listQuery, storedPage } from '#kit'
import { answerList, answersOf } from '../runs/answers-route.ts'
import { isOver } from '../runs/rows.ts'
import type { Runs } from '../runs/runs.ts'
import { checked, definitionOf } from './definition.ts'
import type { Experiments } from './experiments.ts'
import { experimentChange, experimentInput } from './input.ts'
import { resultsOf } from './results.ts'
import type { ExperimentRow } from './rows.ts'
import { experimentDetail, experimentItem, shownExperiment } from './shown.ts'

export const path = '/api/studio/experiments'
export const byId = z.strictObject({ id: z.string().min(1).max(100) })

/** Experiments: users manage their own and see those that are shared, admins all. */
export function addExperimentRoutes(
  { route }: Pick<Context<unknown>, 'route'>,
  experiments: Experiments,
  runs: Runs,
): void {
  const { things } = experiments
  const detailOf = (row: ExperimentRow) => experimentDetailOf(experiments, runs, row)
  const find = (id: string, principal: Principal | undefined) => things.find(id, principal)

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The experiments, newest first: your own, or with an admin key all',
    query: listQuery.extend({
      visibility: z
        .literal('shared')
        .optional()
        .meta({ description: 'Those of admins that are for all, in place of your own.' }),
    }),
    returns: listOf('experiments', experimentItem),
    throws: [403],
    async handle({ query, principal }) {
      const { items: rows, ...page } = await storedPage(query, (window) =>
        things.list(principal, query.visibility === 'shared', window),
      )
      const items = await Promise.all(
        rows.map(async (row) => shownExperiment(row, await runs.store.runs.get(row.id))),
      )
      return listed('experiments', { ...page, items }, query)
    },
  })

  route({
    method: 'post',
    path,
    access: 'any',
    summary: 'Make an experiment; it begins with `POST …/run`',
    body: experimentInput,
    status: 201,
    returns: experimentDetail,
    throws: [403, 404, 409, 413],
    handle: async ({ body: { name, description, visibility, ...said }, principal, signal }) =>
      detailOf(
        await experiments.create({ name, description, visibility }, definitionOf(said), principal!, signal),
      ),
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'An experiment with its results',
    params: byId,
    returns: experimentDetail,
    throws: [403, 404],
    handle: async ({ params: { id }, principal }) => detailOf(await find(id, principal)),
  })

  route({
    method: 'put',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Change an experiment; what it asks only before it begins',
    params: byId,
    body: experimentChange,
    returns: experimentDetail,
    throws: [403, 404, 409],
    async handle({ params: { id }, body: { name, description, visibility, ...said }, principal }) {
      const row = await things.findOwn(id, principal)
      if (visibility !== undefined) checkVisibility(visibility, row, 'experiments')
      const head = {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description: description ?? undefined }),
        ...(visibility !== undefined && { visibility }),
      }
      if (Object.values(said).every((value) => value === undefined))
        return detailOf(await experiments.change(row, head))
      const before = await experiments.read(row)
      if (!before)
        throw conflict('What the experiment asks cannot be read any more. Make another one.', { param: 'id' })
      const given = Object.entries({ ...before, ...said }).filter(([, value]) => value !== null)
      return detailOf(await experiments.change(row, head, checked(Object.fromEntries(given))))
    },
  })

  addEndRoutes(
    { route },
    {
      path: `${path}/{id}`,
      params: byId,
      verb: 'stop',
      summaries: {
        end: 'End an experiment that goes on; the connections of its calls are closed',
        delete: 'Delete an experiment with its answers; its traces stay',
      },
      goesOn: 'The experiment has not ended',
      returns: experimentDetail,
      async find({ id }, principal) {
        const row = await things.findOwn(id, principal)
        return { id, row, run: await runs.store.runs.get(id) }
      },
      isOver: ({ run }) => !run || isOver(run),
      end: ({ id }) => runs.cancel(id),
      delete: ({ row }) => experiments.delete(row),
      show: ({ row }) => detailOf(row),
    },
  )

  route({
    method: 'get',
    path: `${path}/{id}/answers`,
    access: 'any',
    summary: 'The answers of an experiment one by one, in the order of its inputs',
    params: byId,
    query: listQuery,
    returns: answerList,
    throws: [403, 404],
    async handle({ params: { id }, query, principal }) {
      await find(id, principal)
      return answersOf(runs, id, query)
    },
  })
}

/** An experiment with what it asks and its results. */
export async function experimentDetailOf(
  experiments: Experiments,
  runs: Runs,
  row: ExperimentRow,
): Promise<z.infer<typeof experimentDetail>> {
  const run = await runs.store.runs.get(row.id)
  const plan = run && (await runs.planOf(run.id))
  const results =
    run && plan
      ? await resultsOf(run, plan, await runs.store.answersOf(run.id), (answer) => runs.textOf(answer))
      : null
  return { ...shownExperiment(row, run), ...(await experiments.read(row)), results }
}

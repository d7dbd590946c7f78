import { z } from 'zod'
import { type Context, type JobRecord, notFound } from '#kernel'
import { listed, listOf, listQuery, pageOf, shown, storedPage } from '#kit'
import { retry } from './changes.ts'
import { kindItems, kindNames } from './kind-items.ts'
import { recordOf } from './record.ts'
import type { JobRow } from './row.ts'
import { detailOf, itemOf, jobDetail, jobId, jobItem, jobStatus, kindItem, kindName } from './shapes.ts'
import type { JobsState } from './state.ts'
import type { JobTable } from './table.ts'

const params = z.strictObject({ id: jobId })
const pause = z.object({ kind: z.string(), paused: z.boolean() })

/** Jobs of all plugins, for admins. */
export function addJobRoutes(
  { route }: Pick<Context<unknown>, 'route'>,
  table: JobTable,
  state: JobsState | undefined,
): void {
  const record = (row: JobRow): JobRecord => recordOf(row, table.contents)

  route({
    method: 'get',
    path: '/api/jobs',
    access: 'admin',
    summary: 'The jobs, newest first',
    query: listQuery.extend({ kind: kindName.optional(), status: jobStatus.optional() }),
    returns: listOf('jobs', jobItem),
    async handle({ query }) {
      const page = await storedPage(query, (window) => table.list(query, window))
      return listed(
        'jobs',
        shown(page, (row) => itemOf(record(row))),
        query,
      )
    },
  })

  route({
    method: 'get',
    path: '/api/jobs/kinds',
    access: 'admin',
    summary: 'The kinds of jobs and their numbers',
    query: listQuery,
    returns: listOf('kinds', kindItem),
    async handle({ query }) {
      const kinds = await kindItems(table, state)
      return listed(
        'kinds',
        pageOf(kinds, query, ({ kind }) => kind),
        query,
      )
    },
  })

  route({
    method: 'get',
    path: '/api/jobs/{id}',
    access: 'admin',
    summary: 'Show one job, with its input and its result',
    params,
    returns: jobDetail,
    throws: [404],
    handle: async ({ params: { id } }) => detailOf(record(await table.get(id))),
  })

  for (const [verb, change, summary] of [
    [
      'cancel',
      (id: string) => table.cancel(id),
      'Cancel a job, and have its plugin end what it belongs to; a running one is asked to stop',
    ],
    [
      'retry',
      (id: string) => table.change(id, retry),
      'Have a failed or cancelled job begin again, or one that waits begin now',
    ],
  ] as const) {
    route({
      method: 'post',
      path: `/api/jobs/{id}/${verb}`,
      access: 'admin',
      summary,
      params,
      returns: jobDetail,
      throws: [404, 409],
      handle: async ({ params: { id } }) => detailOf(record(await change(id))),
    })
  }

  for (const [verb, paused, summary] of [
    ['pause', true, 'Pause a kind of jobs, also after a restart; running jobs continue'],
    ['resume', false, 'Start jobs of a kind again'],
  ] as const) {
    route({
      method: 'post',
      path: `/api/jobs/${verb}`,
      access: 'admin',
      summary,
      body: z.strictObject({ kind: kindName }),
      returns: pause,
      throws: [404],
      async handle({ body: { kind } }) {
        if (!(await kindNames(table, state)).has(kind))
          throw notFound(`There are no jobs of the kind ${kind}.`, { param: 'kind' })
        await (paused ? table.pause(kind) : table.resume(kind))
        return { kind, paused }
      },
    })
  }
}

import { z } from 'zod'
import { answer, answers, type Context } from '#kernel'
import { addEndRoutes, listed, listOf, listQuery, scopeOf, shown, storedPage } from '#kit'
import { byId } from '../experiments/routes.ts'
import { runFields } from '../experiments/run-route.ts'
import { answerList, answersOf } from '../runs/answers-route.ts'
import { isOver, type RunRow } from '../runs/rows.ts'
import type { Runs } from '../runs/runs.ts'
import type { Benchmarks } from './benchmarks.ts'
import { runInput } from './input.ts'
import { reportOf } from './report.ts'
import { path } from './routes.ts'
import { runDetail, runItem, shownRun } from './shown.ts'

const runPath = `${path}/{id}/runs/{run_id}`
const byRun = byId.extend({ run_id: z.string().min(1).max(100) })

/** Runs of benchmarks: users see and end their own, admins all. */
export function addBenchmarkRunRoutes(
  { route }: Pick<Context<unknown>, 'route'>,
  benchmarks: Benchmarks,
  runs: Runs,
): void {
  const { things } = benchmarks

  async function detailOf(row: RunRow): Promise<z.infer<typeof runDetail>> {
    const plan = await runs.planOf(row.id)
    return { ...shownRun(row), ...(plan && reportOf(row, plan, await runs.store.answersOf(row.id))) }
  }

  route({
    method: 'post',
    path: `${path}/run`,
    access: 'any',
    summary: 'Begin a run of a benchmark with your own keys: 200 with its results, or 202 while it goes on',
    body: runInput.extend(runFields),
    returns: answers({ 200: runDetail, 202: runDetail }),
    throws: [403, 404, 409, 413, 429],
    async handle({ body: { benchmark_id, wait_ms, project, ...change }, principal, ip, signal }) {
      const row = await things.find(benchmark_id, principal)
      const { models, max_cost_usd, ...said } = await benchmarks.read(row)
      const asked = {
        principal: principal!,
        ip,
        project,
        maxCostUsd: change.max_cost_usd ?? max_cost_usd,
      }
      const id = await benchmarks.run(
        row,
        { ...said, models: change.models ?? models, max_cost_usd: asked.maxCostUsd },
        asked,
      )
      await runs.waits.until(id, wait_ms, signal)
      const run = await benchmarks.findRun(row.id, id, principal)
      return isOver(run) ? answer(200, await detailOf(run)) : answer(202, await detailOf(run))
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}/runs`,
    access: 'any',
    summary: 'The runs of a benchmark, newest first: your own, or with an admin key all',
    params: byId,
    query: listQuery,
    returns: listOf('runs', runItem),
    throws: [403, 404],
    async handle({ params: { id }, query, principal }) {
      await things.find(id, principal)
      const filter = { kind: 'benchmark' as const, of: id, user: scopeOf(principal) }
      const page = await storedPage(query, (window) => runs.store.list(filter, window))
      return listed('runs', shown(page, shownRun), query)
    },
  })

  route({
    method: 'get',
    path: runPath,
    access: 'any',
    summary: 'A run of a benchmark with its results',
    params: byRun,
    returns: runDetail,
    throws: [403, 404],
    handle: async ({ params: { id, run_id }, principal }) =>
      detailOf(await benchmarks.findRun(id, run_id, principal)),
  })

  addEndRoutes(
    { route },
    {
      path: runPath,
      params: byRun,
      verb: 'stop',
      summaries: {
        end: 'End a run of a benchmark; the connections of its calls are closed',
        delete: 'Delete a run of a benchmark with its answers; its traces stay',
      },
      goesOn: 'The run has not ended',
      returns: runDetail,
      find: ({ id, run_id }, principal) => benchmarks.findRun(id, run_id, principal),
      isOver: (row) => isOver(row),
      end: ({ id }) => runs.cancel(id),
      delete: ({ id }) => runs.delete(id),
      show: (row) => detailOf(row),
    },
  )

  route({
    method: 'get',
    path: `${runPath}/answers`,
    access: 'any',
    summary: 'The answers of a run one by one, in the order of its cases',
    params: byRun,
    query: listQuery,
    returns: answerList,
    throws: [403, 404],
    async handle({ params: { id, run_id }, query, principal }) {
      await benchmarks.findRun(id, run_id, principal)
      return answersOf(runs, run_id, query)
    },
  })
}

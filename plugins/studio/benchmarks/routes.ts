import { z } from 'zod'
import type { Context } from '#kernel'
import { checkVisibility, listed, listOf, listQuery, shown, storedPage } from '#kit'
import { byId } from '../experiments/routes.ts'
import type { Benchmarks } from './benchmarks.ts'
import { benchmarkChange, benchmarkInput, definition } from './input.ts'
import type { BenchmarkRow } from './rows.ts'
import { benchmarkDetail, benchmarkItem, shownBenchmark } from './shown.ts'

export const path = '/api/studio/benchmarks'

/** Benchmarks: users manage their own and see those that are shared, admins all. */
export function addBenchmarkRoutes({ route }: Pick<Context<unknown>, 'route'>, benchmarks: Benchmarks): void {
  const { things } = benchmarks
  const detailOf = async (row: BenchmarkRow) => ({ ...shownBenchmark(row), ...(await benchmarks.read(row)) })

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The benchmarks, newest first: your own, or with an admin key all',
    query: listQuery.extend({
      visibility: z
        .literal('shared')
        .optional()
        .meta({ description: 'Those of admins that are for all, in place of your own.' }),
    }),
    returns: listOf('benchmarks', benchmarkItem),
    throws: [403],
    async handle({ query, principal }) {
      const areShared = query.visibility === 'shared'
      const page = await storedPage(query, (window) => things.list(principal, areShared, window))
      return listed('benchmarks', shown(page, shownBenchmark), query)
    },
  })

  route({
    method: 'post',
    path,
    access: 'any',
    summary: 'Make a benchmark: cases with assertions, for several models',
    body: benchmarkInput,
    status: 201,
    returns: benchmarkDetail,
    throws: [403, 409, 413],
    async handle({ body: { name, description, visibility, ...said }, principal }) {
      const head = { name, description, ...(visibility && { visibility }) }
      return detailOf(await benchmarks.create(head, definition.parse(said), principal!))
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'A benchmark with its cases',
    params: byId,
    returns: benchmarkDetail,
    throws: [403, 404, 409],
    handle: async ({ params: { id }, principal }) => detailOf(await things.find(id, principal)),
  })

  route({
    method: 'put',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Change a benchmark; runs that have begun ask what they asked',
    params: byId,
    body: benchmarkChange,
    returns: benchmarkDetail,
    throws: [403, 404, 409, 413],
    async handle({ params: { id }, body: { name, description, visibility, ...said }, principal }) {
      const row = await things.findOwn(id, principal)
      if (visibility !== undefined) checkVisibility(visibility, row, 'benchmarks')
      const head = {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description: description ?? undefined }),
        ...(visibility !== undefined && { visibility }),
      }
      const fields = Object.entries({ ...(await benchmarks.read(row)), ...said })
      const next = Object.fromEntries(fields.filter(([, value]) => value !== null && value !== undefined))
      return detailOf(await benchmarks.change(row, head, definition.parse(next)))
    },
  })

  route({
    method: 'delete',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Delete a benchmark with its runs; their traces stay',
    params: byId,
    query: z.strictObject({
      force: z.stringbool().default(false).meta({ description: 'Stops runs first that have not ended.' }),
    }),
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [403, 404, 409],
    async handle({ params: { id }, query, principal }) {
      await benchmarks.delete(await things.findOwn(id, principal), query)
      return { deleted: true as const, id }
    },
  })
}

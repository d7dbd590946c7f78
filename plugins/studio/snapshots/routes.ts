import { z } from 'zod'
import { type Context, conflict } from '#kernel'
import { checkVisibility, listed, listOf, listQuery, shown, storedPage, visibilities } from '#kit'
import { byId } from '../experiments/routes.ts'
import { snapshotChange, snapshotInput } from './input.ts'
import { drift, match } from './match.ts'
import { historyItem, type SnapshotRow, snapshotStatuses } from './rows.ts'
import type { Snapshots } from './snapshots.ts'

const path = '/api/studio/snapshots'

const time = z.string().meta({ format: 'date-time' })

const item = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  user_id: z.string().nullable(),
  visibility: z.enum(visibilities),
  model: z.string(),
  template: z.object({ slug: z.string(), version: z.int() }).nullable(),
  match,
  status: z
    .enum(snapshotStatuses)
    .meta({ description: 'Of the last answer; unverified before there is one.' }),
  match_score: z.number().nullable(),
  drift: drift.nullable(),
  last_run_at: time.nullable(),
  created_at: time,
  updated_at: time,
})

const detail = item.extend({
  baseline_output: z.string().nullable(),
  last_output: z.string().nullable(),
  history: z.array(historyItem).meta({ description: 'Newest first.' }),
})

function itemOf(row: SnapshotRow): z.infer<typeof item> {
  const answered = row.history.find(({ status }) => status !== 'error')
  return {
    ...row,
    description: row.description ?? null,
    user_id: row.user_id ?? null,
    template: row.template ?? null,
    match_score: answered?.score ?? null,
    drift: answered?.drift ?? null,
    last_run_at: row.history[0]?.run_at ?? null,
  }
}

/** Snapshots: users manage their own and see those that are shared, admins all. */
export function addSnapshotRoutes({ route }: Pick<Context<unknown>, 'route'>, snapshots: Snapshots): void {
  const { things } = snapshots

  async function detailOf(row: SnapshotRow): Promise<z.infer<typeof detail>> {
    const { baseline, last } = await snapshots.outputsOf(row)
    return { ...itemOf(row), baseline_output: baseline, last_output: last, history: row.history }
  }

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The snapshots, newest first: your own, or with an admin key all',
    query: listQuery.extend({
      visibility: z
        .literal('shared')
        .optional()
        .meta({ description: 'Those of admins that are for all, in place of your own.' }),
    }),
    returns: listOf('snapshots', item),
    throws: [403],
    async handle({ query, principal }) {
      const areShared = query.visibility === 'shared'
      const page = await storedPage(query, (window) => things.list(principal, areShared, window))
      return listed('snapshots', shown(page, itemOf), query)
    },
  })

  route({
    method: 'post',
    path,
    access: 'any',
    summary: 'Pin an answer: a given one, that of a past call, or what the model says now',
    body: snapshotInput,
    status: 201,
    returns: detail,
    throws: [403, 404, 409, 413, 422, 429],
    handle: async ({ body, principal, ip, signal }) =>
      detailOf(
        await snapshots.save(body, { principal: principal!, ip, signal, project: body.project ?? 'default' }),
      ),
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'A snapshot with both answers and its history',
    params: byId,
    returns: detail,
    throws: [403, 404],
    handle: async ({ params: { id }, principal }) => detailOf(await things.find(id, principal)),
  })

  route({
    method: 'put',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Change what a snapshot is called, how answers must be like the pinned one, or that one',
    params: byId,
    body: snapshotChange,
    returns: detail,
    throws: [403, 404],
    async handle({ params: { id }, body, principal }) {
      const { name, description, visibility, match, expected_output } = body
      let row = await things.findOwn(id, principal)
      if (visibility !== undefined) checkVisibility(visibility, row, 'snapshots')
      if (match)
        await snapshots.check(match, expected_output ?? (await snapshots.outputsOf(row)).baseline ?? '')
      row = await snapshots.change(row, (now) => ({
        ...now,
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description: description ?? undefined }),
        ...(visibility !== undefined && { visibility }),
        ...(match && { match, status: 'unverified' }),
      }))
      return detailOf(expected_output === undefined ? row : await snapshots.pin(row, expected_output))
    },
  })

  route({
    method: 'delete',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Delete a snapshot; its traces stay',
    params: byId,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [403, 404],
    async handle({ params, principal }) {
      const { id } = await things.findOwn(params.id, principal)
      await things.rows.delete(id)
      return { deleted: true as const, id }
    },
  })

  route({
    method: 'post',
    path: `${path}/{id}/run`,
    access: 'any',
    summary: 'Ask again with your own keys, and tell how far the answer is from the pinned one',
    params: byId,
    body: z.strictObject({ project: z.string().min(1).max(100).default('default') }).prefault({}),
    returns: detail,
    throws: [403, 404, 409],
    async handle({ params: { id }, body: { project }, principal, ip, signal }) {
      const row = await things.findOwn(id, principal)
      return detailOf(await snapshots.run(row, { principal: principal!, ip, project, signal }))
    },
  })

  route({
    method: 'post',
    path: `${path}/{id}/accept`,
    access: 'any',
    summary: 'Pin the last answer in place of the one before',
    params: byId,
    returns: detail,
    throws: [403, 404, 409],
    async handle({ params: { id }, principal }) {
      const row = await things.findOwn(id, principal)
      const { last } = await snapshots.outputsOf(row)
      if (last === null) throw conflict('There is no last answer. Run the snapshot first.', { param: 'id' })
      return detailOf(await snapshots.pin(row, last))
    },
  })
}

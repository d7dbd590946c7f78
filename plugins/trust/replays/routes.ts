import { z } from 'zod'
import {
  badRequest,
  type Completion,
  type Context,
  conflict,
  newId,
  notFound,
  Plans,
  type Principal,
  TraceReader,
} from '#kernel'
import {
  answerTexts,
  listed,
  listOf,
  listQuery,
  pastCallOf,
  scopeOf,
  shown,
  sourceUserOf,
  storedPage,
  storePrincipal,
} from '#kit'
import { isJson, methodFor } from './compare.ts'
import { modelFor, replayInput, traceIdIn } from './input.ts'
import type { Replays } from './replays.ts'
import { itemOf, type ReplayRow, replayItem } from './row.ts'

const detail = replayItem.extend({
  replay_output: z.string().nullable().meta({
    description:
      'What the new answer says, as its trace has it; null while there is none, or when it is not stored.',
  }),
})

/** To make calls of the past again, and see what came of it: users their own, admins all. */
export function addReplayRoutes({ route, use, find }: Context<unknown>, replays: Replays): void {
  route({
    method: 'post',
    path: '/api/trust/replays',
    access: 'any',
    summary: 'Make a past call again, at your own cost, and compare the answers',
    body: replayInput,
    status: 202,
    returns: replayItem,
    throws: [403, 404, 422],
    async handle({ body, principal, ip }) {
      find(Plans)?.demand(principal!, 'individual', 'Replays')
      const original = await pastCallOf(use(TraceReader), traceIdIn(body), principal!, 'original_trace_id')
      const now = new Date().toISOString()
      const { purpose, match_method = methodFor(original.response) } = body
      if (match_method === 'judge')
        throw badRequest('body match_method: there is no judge; use exact, json or semantic.', {
          param: 'match_method',
        })
      if (match_method === 'json' && !isJson(original.response))
        throw badRequest('body match_method: the original answer is not JSON; use exact or semantic.', {
          param: 'match_method',
        })
      const sourceUser = sourceUserOf(original.trace)
      const row: ReplayRow = {
        id: newId('rep_'),
        principal: storePrincipal(principal!),
        ip,
        ...(sourceUser !== undefined && { source_user_id: sourceUser }),
        original_trace_id: original.trace.id,
        model: modelFor(body, original),
        ...(purpose !== undefined && { purpose }),
        status: 'queued',
        match_method,
        created_at: now,
        updated_at: now,
      }
      await replays.add(row)
      return itemOf(row)
    },
  })

  route({
    method: 'get',
    path: '/api/trust/replays',
    access: 'any',
    summary: 'The replays: your own, or with an admin key all',
    query: listQuery,
    returns: listOf('replays', replayItem),
    throws: [403],
    async handle({ query, principal }) {
      const user = scopeOf(principal)
      const page = await storedPage(query, (options) => replays.list(user, options))
      return listed('replays', shown(page, itemOf), query)
    },
  })

  route({
    method: 'get',
    path: '/api/trust/replays/{id}',
    access: 'any',
    summary: 'Show a replay with its answer',
    params: z.strictObject({ id: z.string().min(1).max(100) }),
    returns: detail,
    throws: [403, 404],
    async handle({ params, principal }) {
      const row = await replayOf(params.id, principal)
      return { ...itemOf(row), replay_output: await outputOf(row) }
    },
  })

  route({
    method: 'delete',
    path: '/api/trust/replays/{id}',
    access: 'any',
    summary: 'Delete a replay; the trace of its call stays',
    params: z.strictObject({ id: z.string().min(1).max(100) }),
    query: z.strictObject({
      force: z.stringbool().default(false).meta({ description: 'Ends it first if it goes on.' }),
    }),
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [403, 404, 409],
    async handle({ params, query: { force }, principal }) {
      const { id, status } = await replayOf(params.id, principal)
      if (!force && (status === 'queued' || status === 'running'))
        throw conflict('The replay has not ended. Say force=true to end it first.', { param: 'force' })
      await replays.delete(id)
      return { deleted: true as const, id }
    },
  })

  /** One of the caller, or with an admin key any. Throws a not found. */
  async function replayOf(id: string, principal: Principal | undefined): Promise<ReplayRow> {
    const user = scopeOf(principal)
    const row = await replays.get(id)
    if (row && (user === undefined || row.principal.userId === user)) return row
    throw notFound(`There is no replay ${id}.`, { param: 'id' })
  }

  async function outputOf({ status, replay_run_id: run }: ReplayRow): Promise<string | null> {
    const bodies = status === 'done' && run !== undefined ? await use(TraceReader).bodies(run) : undefined
    const { response } = bodies ?? {}
    const isWhole = typeof response === 'object' && response !== null && 'choices' in response
    return isWhole ? answerTexts(response as Completion).join('\n') : null
  }
}

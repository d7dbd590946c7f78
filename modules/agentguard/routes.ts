import { z } from 'zod'
import { notFound, type OnceContext, type Principal } from '#kernel'
import { type BodySeals, listed, listOf, listQuery, pageOf, usdOf } from '#kit'
import { bounds } from './bounds.ts'
import type { Running } from './running.ts'
import type { SessionRow } from './session.ts'
import type { Sessions } from './sessions.ts'

const base = '/api/modules/agentguard/sessions'
const params = z.strictObject({ id: z.string().max(256) })
const state = z.enum(['active', 'stopped', 'killed'])
const count = z.int()

const item = z.object({
  id: z.string(),
  session: z.string().nullable().meta({ description: 'X-Session-Id; null for a conversation.' }),
  from: z.enum(['header', 'derived']),
  state,
  stopped_by: z.enum(bounds).nullable().meta({ description: 'The bound that refused its last call.' }),
  user_id: z.string().nullable(),
  key_id: z.string(),
  tenant: z.string().nullable(),
  project: z.string(),
  model: z.string(),
  calls: count,
  tool_calls: count,
  tokens: count,
  cost_usd: z.number(),
  started_at: z.string(),
  last_at: z.string(),
  forget_at: z.string().meta({ description: 'When it is forgotten if no other call comes.' }),
  killed_at: z.string().nullable(),
  killed_by: z.string().nullable(),
  reason: z.string().nullable(),
})

const stateOf = ({ killed, stopped }: SessionRow): z.infer<typeof state> =>
  killed ? 'killed' : stopped ? 'stopped' : 'active'

const isoOf = (ms: number): string => new Date(ms).toISOString()

/** `session`: as the client calls it, where it can be told. */
function itemOf(id: string, row: SessionRow, session: string | undefined): z.infer<typeof item> {
  const { stopped, killed, user_id, tenant } = row
  return {
    id,
    session: session ?? null,
    from: row.from,
    state: stateOf(row),
    stopped_by: killed ? 'killed' : ((stopped?.bound as z.infer<typeof item>['stopped_by']) ?? null),
    user_id: user_id ?? null,
    key_id: row.key_id,
    tenant: tenant ?? null,
    project: row.project,
    model: row.model,
    calls: row.calls,
    tool_calls: row.tool_calls,
    tokens: row.tokens,
    cost_usd: usdOf(row.cost_nano),
    started_at: isoOf(row.started_at),
    last_at: isoOf(row.last_at),
    forget_at: isoOf(row.forget_at),
    killed_at: killed ? isoOf(killed.at) : null,
    killed_by: killed?.by ?? null,
    reason: killed?.reason ?? null,
  }
}

interface Parts {
  readonly sessions: Sessions
  readonly running: Running
  readonly seals: BodySeals
}

/** Admins see and end all sessions, and reset them; users see and end their own. */
export function addRoutes({ route }: OnceContext, { sessions, running, seals }: Parts): void {
  const shownAs = async (id: string, row: SessionRow) =>
    itemOf(id, row, row.session === undefined ? undefined : await seals.tryOpen(row.session))
  const isSeenBy = ({ user_id }: SessionRow, principal: Principal | undefined): boolean =>
    principal?.type === 'admin' || (user_id !== undefined && user_id === principal?.userId)
  const noSession = (id: string) => notFound(`There is no session ${id}.`, { param: 'id' })

  async function seen(id: string, principal: Principal | undefined): Promise<SessionRow> {
    const session = await sessions.get(id)
    if (!session || !isSeenBy(session, principal)) throw noSession(id)
    return session
  }

  route({
    method: 'get',
    path: base,
    access: 'any',
    summary: 'The sessions, the latest first; users see their own',
    query: listQuery.extend({
      state: state.optional(),
      user_id: z.string().max(256).optional(),
    }),
    returns: listOf('sessions', item),
    async handle({ query: { state, user_id, ...query }, principal }) {
      const rows = (await sessions.list())
        .filter(([, row]) => isSeenBy(row, principal))
        .filter(([, row]) => state === undefined || stateOf(row) === state)
        .filter(([, row]) => user_id === undefined || row.user_id === user_id)
      const { items, ...page } = pageOf(rows, query, ([id]) => id)
      return listed(
        'sessions',
        { ...page, items: await Promise.all(items.map(([id, row]) => shownAs(id, row))) },
        query,
      )
    },
  })

  route({
    method: 'get',
    path: `${base}/{id}`,
    access: 'any',
    summary: 'One session',
    params,
    returns: item,
    handle: async ({ params: { id }, principal }) => shownAs(id, await seen(id, principal)),
  })

  route({
    method: 'post',
    path: `${base}/{id}/kill`,
    access: 'any',
    summary: 'End a session: its running calls end, and further ones are refused',
    params,
    body: z.strictObject({ reason: z.string().max(500).optional() }),
    returns: item,
    async handle({ params: { id }, body: { reason }, principal }) {
      await seen(id, principal)
      const killed = await sessions.kill(id, principal?.userId ?? principal?.keyId ?? 'unknown', reason)
      if (!killed) throw noSession(id)
      await running.endKilled()
      return shownAs(id, killed)
    },
  })

  route({
    method: 'delete',
    path: `${base}/{id}`,
    access: 'admin',
    summary: 'Reset a session: it begins anew with its next call',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    async handle({ params: { id } }) {
      if (!(await sessions.forget(id))) throw noSession(id)
      return { deleted: true as const, id }
    },
  })
}

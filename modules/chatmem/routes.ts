import { z } from 'zod'
import { notFound, type OnceContext, type Principal } from '#kernel'
import { forbidOthers, listed, listOf, listQuery, storedPage } from '#kit'
import type { Memory } from './memory.ts'
import type { SessionRow } from './rows.ts'
import { turn } from './turn.ts'

const base = '/api/modules/chatmem/sessions'
const params = z.strictObject({ id: z.string().max(256) })

const item = z.object({
  id: z.string(),
  session: z
    .string()
    .nullable()
    .meta({ description: 'X-Session-Id; null where it cannot be read any more.' }),
  user_id: z.string().nullable(),
  key_id: z.string().meta({ description: 'The key of its last call.' }),
  tenant: z.string().nullable(),
  project: z.string(),
  turns: z.int().meta({ description: 'Turns that are kept word for word.' }),
  tokens: z.int().meta({ description: 'About how many these have.' }),
  started_at: z.string(),
  last_at: z.string(),
  forget_at: z.string().meta({ description: 'When it is forgotten if no other call comes.' }),
})

const isoOf = (ms: number): string => new Date(ms).toISOString()

/** Users see and clear their own sessions, admins all. A clearing waits for what is being written. */
export function addRoutes(
  { route }: Pick<OnceContext, 'route'>,
  memory: Memory,
  written: () => Promise<void>,
): void {
  const shown = async (id: string, row: SessionRow): Promise<z.infer<typeof item>> => ({
    id,
    session: (await memory.nameOf(row)) ?? null,
    user_id: row.user_id ?? null,
    key_id: row.key_id,
    tenant: row.tenant ?? null,
    project: row.project,
    turns: row.turns,
    tokens: row.tokens,
    started_at: isoOf(row.started_at),
    last_at: isoOf(row.last_at),
    forget_at: isoOf(row.forget_at),
  })

  /** Another user's session is no session. */
  async function seen(id: string, principal: Principal | undefined): Promise<SessionRow> {
    const row = await memory.sessions.get(id)
    const isOwn = row?.user_id !== undefined && row.user_id === principal?.userId
    if (row && row.forget_at > Date.now() && (isOwn || principal?.type === 'admin')) return row
    throw notFound(`There is no session ${id}.`, { param: 'id' })
  }

  route({
    method: 'get',
    path: base,
    access: 'any',
    summary: 'The sessions that are remembered, the latest first; users see their own',
    query: listQuery.extend({ user_id: z.string().max(256).optional() }),
    returns: listOf('sessions', item),
    throws: [403],
    async handle({ query: { user_id, ...query }, principal }) {
      const user = forbidOthers(principal, user_id)
      const which = user === undefined ? { index: 'last' } : { index: 'user', equals: [user] }
      const { items, ...page } = await storedPage(query, (page) =>
        memory.sessions.list({ ...page, ...which, reverse: true }),
      )
      return listed(
        'sessions',
        { ...page, items: await Promise.all(items.map((row) => shown(row.id, row))) },
        query,
      )
    },
  })

  route({
    method: 'get',
    path: `${base}/{id}`,
    access: 'any',
    summary: 'What is remembered of a session',
    params,
    returns: item.extend({
      summary: z.string().nullable().meta({ description: 'What is left of turns that are gone.' }),
      messages: z.array(turn).meta({ description: 'The turns, the oldest first.' }),
    }),
    throws: [404],
    async handle({ params: { id }, principal }) {
      const row = await seen(id, principal)
      const found = await memory.recall(id)
      return {
        ...(await shown(id, row)),
        summary: found?.summary ?? null,
        messages: [...(found?.turns ?? [])],
      }
    },
  })

  route({
    method: 'delete',
    path: `${base}/{id}`,
    access: 'any',
    summary: 'Clear what is remembered of a session',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [404],
    async handle({ params: { id }, principal }) {
      await seen(id, principal)
      await written()
      await memory.forgetting.forget(id)
      return { deleted: true as const, id }
    },
  })

  route({
    method: 'delete',
    path: base,
    access: 'any',
    summary: 'Clear the memory of a user: users their own, admins that of user_id or of all',
    query: z.strictObject({ user_id: z.string().max(256).optional() }),
    returns: z.object({ deleted: z.int() }),
    throws: [403],
    async handle({ query: { user_id }, principal }) {
      await written()
      return { deleted: await memory.forgetting.forgetAll(forbidOthers(principal, user_id)) }
    },
  })
}

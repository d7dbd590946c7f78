import { z } from 'zod'
import { type Context, conflict, newId, type Principal } from '#kernel'
import { checkVisibility, listed, listOf, listQuery, onlyShared, scopeOf, shown, storedPage } from '#kit'
import { without } from '../fields.ts'
import { newSession, sessionChange } from './input.ts'
import type { SessionBody, SessionRow } from './rows.ts'
import { sessionDetail, sessionDetailOf, sessionItem, shownSession } from './shown.ts'
import { unknownSession } from './store.ts'
import type { Talks } from './talks.ts'

export const sessionsPath = '/api/forge/sessions'

export const byId = z.strictObject({ id: z.string().min(1).max(100) })

/** The session of this id, if the caller may see it. Throws a not found. */
export async function findSession(
  { store }: Talks,
  id: string,
  principal: Principal | undefined,
): Promise<SessionRow> {
  const user = scopeOf(principal)
  const row = await store.get(id)
  if (row && (user === undefined || row.user_id === user || row.visibility === 'shared')) return row
  throw unknownSession(id)
}

/** The same, for a change. Throws a forbidden for one that is only shared with the caller. */
export async function findOwnSession(
  talks: Talks,
  id: string,
  principal: Principal | undefined,
): Promise<SessionRow> {
  const row = await findSession(talks, id, principal)
  const user = scopeOf(principal)
  if (user === undefined || row.user_id === user) return row
  throw onlyShared('The session', 'id')
}

/** Sessions: users have their own and see those that are shared, admins see all. */
export function addSessionRoutes({ route }: Pick<Context<unknown>, 'route'>, talks: Talks): void {
  const { store, json } = talks

  route({
    method: 'get',
    path: sessionsPath,
    access: 'any',
    summary: 'The sessions, newest first: your own and those that are shared, or with an admin key all',
    query: listQuery,
    returns: listOf('sessions', sessionItem),
    throws: [403],
    async handle({ query, principal }) {
      const user = scopeOf(principal)
      const page = await storedPage(query, (window) => store.list(user, window))
      return listed('sessions', shown(page, shownSession), query)
    },
  })

  route({
    method: 'post',
    path: sessionsPath,
    access: 'any',
    summary: 'Begin a session, a conversation that the gateway keeps',
    body: newSession,
    status: 201,
    returns: sessionDetail,
    throws: [403, 409],
    async handle({ body, principal }) {
      const { name, model, provider, memory, visibility, ...said } = body
      const user_id = scopeOf(principal)
      const { tenant } = principal!
      const now = new Date().toISOString()
      const owner = { ...(user_id !== undefined && { user_id }), ...(tenant !== undefined && { tenant }) }
      checkVisibility(visibility, owner, 'sessions')
      const row: SessionRow = {
        id: newId('sess_'),
        ...owner,
        visibility,
        name,
        model,
        ...(provider !== undefined && { provider }),
        memory,
        body: await json.write(owner, said),
        message_count: 0,
        token_count: 0,
        cost_nano: 0,
        created_at: now,
        updated_at: now,
      }
      await store.create(row)
      return sessionDetailOf(json, row)
    },
  })

  route({
    method: 'get',
    path: `${sessionsPath}/{id}`,
    access: 'any',
    summary: 'A session without its messages',
    params: byId,
    returns: sessionDetail,
    throws: [403, 404],
    handle: async ({ params: { id }, principal }) =>
      sessionDetailOf(json, await findSession(talks, id, principal)),
  })

  route({
    method: 'put',
    path: `${sessionsPath}/{id}`,
    access: 'any',
    summary: 'Change a session; the next message has it',
    params: byId,
    body: sessionChange,
    returns: sessionDetail,
    throws: [403, 404],
    async handle({ params: { id }, body, principal }) {
      const session = await findOwnSession(talks, id, principal)
      const { name, model, provider, memory, visibility, ...said } = body
      if (visibility !== undefined) checkVisibility(visibility, session, 'sessions')
      const before = ((await json.read(session.body))?.value ?? {}) as SessionBody
      const text = await json.write(session, without(null, { ...before, ...said }))
      const changed = await store.change(id, ({ provider: old, ...row }) => {
        const next = provider === undefined ? old : provider
        return {
          ...row,
          ...(visibility !== undefined && { visibility }),
          name: name ?? row.name,
          model: model ?? row.model,
          ...(next !== undefined && next !== null && { provider: next }),
          memory: memory ?? row.memory,
          body: text,
          updated_at: new Date().toISOString(),
        }
      })
      return sessionDetailOf(json, changed)
    },
  })

  route({
    method: 'delete',
    path: `${sessionsPath}/{id}`,
    access: 'any',
    summary: 'Delete a session with its messages',
    params: byId,
    query: z.strictObject({
      force: z.stringbool().default(false).meta({ description: 'Ends an answer that is under way first.' }),
    }),
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [403, 404, 409],
    async handle({ params: { id }, query: { force }, principal }) {
      await findOwnSession(talks, id, principal)
      if (talks.isBusy(id) && !force)
        throw conflict('A message of the session waits for its answer. Wait for it, or say force=true.', {
          param: 'force',
        })
      await talks.delete(id)
      return { deleted: true as const, id }
    },
  })
}

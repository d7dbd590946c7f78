import { z } from 'zod'
import {
  type Context,
  forbidden,
  kernelServices,
  notFound,
  type Principal,
  sessionCookie,
  unauthorized,
} from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import type { BrowserSessions, SessionRecord } from '../sessions.ts'
import { holderOf } from '../sessions.ts'
import { idParam } from '../shapes.ts'

const time = z.string().meta({ format: 'date-time' })

const session = z.object({
  id: z.string(),
  key_id: z.string().meta({ description: 'The key that began it; it ends with that key.' }),
  user_id: z.string().nullable(),
  current: z.boolean().meta({ description: 'Whether this request came with it.' }),
  ip: z.string(),
  user_agent: z.string().nullable(),
  created_at: time,
  expires_at: time,
})

const itemOf = (row: SessionRecord, current: string | undefined): z.infer<typeof session> => ({
  ...row,
  user_id: row.user_id ?? null,
  user_agent: row.user_agent ?? null,
  current: row.id === current,
})

const secondsUntil = (time: string): number => Math.max(0, Math.floor((Date.parse(time) - Date.now()) / 1000))

const whoami = session.extend({ type: z.enum(['admin', 'user']), plan: z.string() })

/** Sessions of browsers: begun with a key, and used in its place by a cookie. */
export function addSessionRoutes({ route, use }: Context<unknown>, sessions: BrowserSessions): void {
  /** Of all for an admin, otherwise of the caller. */
  const mayEnd = (row: SessionRecord, principal: Principal): boolean =>
    principal.type === 'admin' || holderOf({ userId: row.user_id, keyId: row.key_id }) === holderOf(principal)

  route({
    method: 'post',
    path: '/api/auth/session',
    access: 'any',
    sameOrigin: true,
    summary: 'Start a browser session with a key; the answer sets its cookie',
    body: z.strictObject({}),
    status: 201,
    returns: whoami,
    async handle({ principal, session, headers, ip, isSecure, header }) {
      if (session !== undefined)
        throw forbidden('A session can be started only with a key, not with a session.')
      const accounts = use(kernelServices.accounts)
      const key = await accounts.digestOf(principal!.keyId)
      if (key === undefined) throw unauthorized('This key has ended.')
      const keyEnds = (await accounts.keys.find(principal!.keyId))?.expires_at
      const userAgent = headers['user-agent']
      const { row, secret } = await sessions.begin({ principal: principal!, key, keyEnds, ip, userAgent })
      header('set-cookie', sessionCookie(secret, { secure: isSecure, maxAgeS: secondsUntil(row.expires_at) }))
      header('cache-control', 'no-store')
      return { ...itemOf(row, row.id), type: principal!.type, plan: principal!.plan }
    },
  })

  route({
    method: 'get',
    path: '/api/auth/session',
    access: 'any',
    summary: 'Show the session of this request, and its user',
    returns: whoami,
    throws: [404],
    async handle({ principal, session, header }) {
      const row = session === undefined ? undefined : await sessions.get(session)
      if (!row) throw notFound('This request has a key and no session.')
      header('cache-control', 'no-store')
      return { ...itemOf(row, session), type: principal!.type, plan: principal!.plan }
    },
  })

  route({
    method: 'delete',
    path: '/api/auth/session',
    access: 'any',
    summary: 'End the session of this request and delete its cookie',
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [404],
    async handle({ session, isSecure, header }) {
      if (session === undefined) throw notFound('This request has a key and no session.')
      await sessions.end(session)
      header('set-cookie', sessionCookie('', { secure: isSecure, maxAgeS: 0 }))
      return { deleted: true as const, id: session }
    },
  })

  route({
    method: 'get',
    path: '/api/auth/sessions',
    access: 'any',
    summary: 'Your sessions; for admins, all sessions or those of one user',
    query: listQuery.extend({ user_id: idParam.optional().meta({ description: 'Only for admins.' }) }),
    returns: listOf('sessions', session),
    async handle({ principal, session, query }) {
      const { user_id: userId, ...window } = query
      if (userId !== undefined && principal!.type !== 'admin' && userId !== principal!.userId)
        throw forbidden('Only an admin sees sessions of others.')
      const holder = principal!.type === 'admin' ? userId : holderOf(principal!)
      const page = await storedPage(window, (options) => sessions.list(holder, options))
      return listed(
        'sessions',
        shown(page, (row) => itemOf(row, session)),
        window,
      )
    },
  })

  route({
    method: 'delete',
    path: '/api/auth/sessions/{id}',
    access: 'any',
    summary: 'End one of your sessions; for admins, any session',
    params: z.strictObject({ id: idParam }),
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    async handle({ principal, params: { id } }) {
      const row = await sessions.get(id)
      if (!row || !mayEnd(row, principal!) || !(await sessions.end(id)))
        throw notFound(`There is no session ${id}.`, { param: 'id' })
      return { deleted: true as const, id }
    },
  })
}

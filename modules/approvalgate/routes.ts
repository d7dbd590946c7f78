import { z } from 'zod'
import { conflict, notFound, type OnceContext, type Principal } from '#kernel'
import { deferredResult, listed, listOf, listQuery, pageOf, scopeOf } from '#kit'
import { type Deferred, deferredStatuses } from './deferred.ts'
import { held, preview, previewOf, type Verdict, verdict } from './held.ts'
import type { Waiting } from './waiting.ts'

export const path = '/api/modules/approvalgate'
const params = z.strictObject({ id: z.string().min(1).max(100) })
const reason = z.string().min(1).max(500)
/** More are not shown at once: what is decided makes room. */
const mostShown = 10_000

const request = deferredResult.extend({
  id: z.string(),
  status: z.enum(deferredStatuses),
  rule: z.string(),
  reason: z.string().nullable().meta({ description: 'What the reviewer said.' }),
  created_at: z.string().meta({ format: 'date-time' }),
  expires_at: z.string().meta({ format: 'date-time' }),
})

/** For reviewers what waits, and for clients what became of it. */
export function addRoutes({ route }: OnceContext, waiting: Waiting, deferred: Deferred): void {
  route({
    method: 'get',
    path: `${path}/pending`,
    access: 'admin',
    summary: 'The calls that wait for an approval, newest first',
    query: listQuery,
    returns: listOf('pending', held),
    async handle({ query }) {
      const { items } = await deferred.pending({ limit: mostShown })
      const all = [...waiting.all.map((one) => one.held), ...items.map((row) => held.parse(row))]
      all.sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
      return listed(
        'pending',
        pageOf(all, query, ({ id }) => id),
        query,
      )
    },
  })

  route({
    method: 'get',
    path: `${path}/pending/{id}`,
    access: 'admin',
    summary: 'A call that waits, with what it asks for',
    params,
    returns: held.extend({ request: preview.nullable() }),
    throws: [404],
    async handle({ params: { id } }) {
      const one = waiting.get(id)
      if (one) return { ...one.held, request: one.preview }
      const row = await deferred.get(id)
      if (row?.status !== 'pending') throw missing(id)
      const asked = await deferred.requestOf(id)
      return { ...held.parse(row), request: asked ? previewOf(asked) : null }
    },
  })

  async function decide(id: string, decided: Verdict): Promise<{ id: string } & Verdict> {
    if (waiting.decide(id, decided) || (await deferred.decide(id, decided))) return { id, ...decided }
    if (await deferred.get(id)) throw conflict(`The call ${id} is decided already.`, { param: 'id' })
    throw missing(id)
  }
  const by = (principal: Principal | undefined): string => principal!.keyId

  route({
    method: 'post',
    path: `${path}/pending/{id}/approve`,
    access: 'admin',
    summary: 'Let a call that waits go on',
    params,
    body: z.strictObject({ reason: reason.optional() }).default({}),
    returns: verdict.extend({ id: z.string() }),
    throws: [404, 409],
    handle: ({ params: { id }, body, principal }) =>
      decide(id, { approved: true, by: by(principal), ...(body.reason && { reason: body.reason }) }),
  })

  route({
    method: 'post',
    path: `${path}/pending/{id}/deny`,
    access: 'admin',
    summary: 'Refuse a call that waits, with a reason for its client',
    params,
    body: z.strictObject({ reason: reason.optional() }).default({}),
    returns: verdict.extend({ id: z.string() }),
    throws: [404, 409],
    handle: ({ params: { id }, body, principal }) =>
      decide(id, { approved: false, by: by(principal), ...(body.reason && { reason: body.reason }) }),
  })

  route({
    method: 'get',
    path: `${path}/requests/{id}`,
    access: 'any',
    summary:
      'What became of a call that was answered with an id, and its answer: your own, or with an admin key any',
    params,
    returns: request,
    throws: [403, 404],
    async handle({ params: { id }, principal }) {
      const user = scopeOf(principal)
      const row = await deferred.get(id)
      if (!row || (user !== undefined && row.user_id !== user)) throw missing(id)
      const result = await deferred.resultOf(id)
      return {
        id,
        status: row.status,
        rule: row.rule,
        reason: row.verdict?.reason ?? null,
        trace_id: result?.trace_id ?? null,
        response: result?.response ?? null,
        error: result?.error ?? row.error ?? null,
        created_at: row.created_at,
        expires_at: row.expires_at,
      }
    },
  })
}

const missing = (id: string) => notFound(`No call ${id} waits for an approval.`, { param: 'id' })

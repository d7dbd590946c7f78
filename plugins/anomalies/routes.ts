import { z } from 'zod'
import { anomalyKinds, anomalySeverities, type Context, forbidden, notFound } from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import type { AnomalyRow } from './row.ts'
import type { AnomalyStore } from './store.ts'
import { anomaly, ownViewOf, viewOf } from './view.ts'

const base = '/api/observe/anomalies'
const params = z.strictObject({ id: z.string().max(100) })
const time = z.iso.datetime({ offset: true }).optional()
const text = z.string().min(1).max(300).optional()

const query = listQuery.extend({
  kind: z.enum(anomalyKinds).optional(),
  severity: z.enum(anomalySeverities).optional(),
  acknowledged: z.enum(['true', 'false']).optional(),
  model: text.meta({ description: 'Without the name of its provider.' }),
  user_id: text.meta({ description: 'Of the calls of this user; with a user key your own.' }),
  from: time.meta({ description: 'Detected then or later.' }),
  to: time.meta({ description: 'Detected before.' }),
})

const at = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(time)

/** Users see what concerns their own calls, and admins all; only admins acknowledge and delete. */
export function addRoutes({ route }: Pick<Context<unknown>, 'route'>, anomalies: AnomalyStore): void {
  route({
    method: 'get',
    path: base,
    access: 'any',
    summary:
      'Calls and times that are far from what is usual, newest first: your own, or with an admin key all',
    query,
    returns: listOf('anomalies', anomaly),
    throws: [403],
    async handle({
      query: { kind, severity, acknowledged, model, user_id, from, to, ...window },
      principal,
    }) {
      const { type, userId } = principal!
      if (type === 'user' && user_id !== undefined && user_id !== userId)
        throw forbidden('Only an admin key may see the anomalies of another user.', { param: 'user_id' })
      const whose = type === 'user' ? { owner: userId } : { user: user_id }
      const seen = acknowledged === undefined ? undefined : acknowledged === 'true'
      const filter = { kind, severity, acknowledged: seen, model, ...whose }
      const range = { from: at(from), to: at(to) }
      const page = await storedPage(window, (options) => anomalies.list(filter, range, options))
      const view = type === 'user' ? ownViewOf : viewOf
      return listed(
        'anomalies',
        shown(page, (row) => view(row)!),
        window,
      )
    },
  })

  route({
    method: 'get',
    path: `${base}/{id}`,
    access: 'any',
    summary: 'One anomaly',
    params,
    returns: anomaly,
    throws: [404],
    async handle({ params: { id }, principal }) {
      const { type, userId } = principal!
      const row = await anomalies.get(id)
      const view = row && (type === 'admin' ? viewOf(row) : row.scope.user === userId && ownViewOf(row))
      if (!view) throw noAnomaly(id)
      return view
    },
  })

  route({
    method: 'post',
    path: `${base}/{id}/acknowledge`,
    access: 'admin',
    summary: 'Say that somebody has seen an anomaly',
    params,
    returns: anomaly,
    throws: [404],
    handle: async ({ params: { id } }) => viewOf(surely(await anomalies.acknowledge(id), id)),
  })

  route({
    method: 'delete',
    path: `${base}/{id}`,
    access: 'admin',
    summary: 'Delete an anomaly',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [404],
    async handle({ params: { id } }) {
      if (!(await anomalies.delete(id))) throw noAnomaly(id)
      return { deleted: true as const, id }
    },
  })
}

function surely(row: AnomalyRow | undefined, id: string): AnomalyRow {
  if (!row) throw noAnomaly(id)
  return row
}

const noAnomaly = (id: string) => notFound(`There is no anomaly ${id}.`, { param: 'id' })

import { z } from 'zod'
import type { OnceContext, RowLog } from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import { mostSummed, summarise, summary } from './report.ts'
import { item, itemOf, type Row } from './row.ts'

const dayMs = 24 * 60 * 60 * 1000
/** Days for which comparisons are kept. */
const keptDays = 30

export interface Mirrors {
  readonly log: RowLog<Row>
  /** Counts a copy that was not made because too many were under way. */
  dropped(): void
}

/** The comparisons of all configurations, and the routes that show them. */
export async function openMirrors({ store, route, every }: OnceContext): Promise<Mirrors> {
  const log = store.log<Row>('comparisons', {
    id: ({ id }) => id,
    time: ({ at }) => at,
    fields: {
      target: ({ target }) => target,
      trace_id: ({ trace_id }) => trace_id,
      configuration: ({ by }) => by,
    },
  })
  const counts = await store.counters('counts')
  every(dayMs / 24, async () => void (await log.prune(Date.now() - keptDays * dayMs)))
  const filters = {
    target: z.string().max(256).optional(),
    configuration: z.string().max(200).optional(),
  }

  route({
    method: 'get',
    path: '/api/modules/mirrortest/comparisons',
    access: 'admin',
    summary: 'The copied calls, newest first',
    query: listQuery.extend({ ...filters, trace_id: z.string().max(200).optional() }),
    returns: listOf('comparisons', item),
    async handle({ query: { target, configuration, trace_id, ...window } }) {
      const where = { target, configuration, trace_id }
      const page = await storedPage(window, (options) => log.list({ where, ...options }))
      return listed('comparisons', shown(page, itemOf), window)
    },
  })

  route({
    method: 'get',
    path: '/api/modules/mirrortest/report',
    access: 'admin',
    summary: 'What the answers of each model and its mirror have in common',
    query: z.strictObject({
      ...filters,
      days: z.coerce
        .number()
        .int()
        .min(1)
        .max(keptDays)
        .default(7)
        .meta({ description: `How far back, for the newest ${mostSummed} comparisons at most.` }),
    }),
    returns: z.object({
      since: z.string(),
      models: z.array(summary),
      dropped: z
        .int()
        .meta({ description: 'Copies that were not made because too many were under way, ever.' }),
    }),
    async handle({ query: { target, configuration, days } }) {
      const from = Date.now() - days * dayMs
      return {
        since: new Date(from).toISOString(),
        models: await summarise(log.scan({ where: { target, configuration }, from })),
        dropped: counts.get('dropped'),
      }
    },
  })

  return { log, dropped: () => counts.add('dropped', 1) }
}

import { z } from 'zod'
import { answer, answers, type Context, notFound } from '#kernel'
import { listed, listOf, listQuery, shown, storedPage } from '#kit'
import type { Erasures } from './erasures.ts'
import { type ErasureRow, facts, signed, statuses, sums } from './row.ts'

const path = '/api/modules/retentionwipe'

const brief = z.object({
  id: z.string(),
  status: z.enum(statuses),
  requested_at: z.string(),
  finished_at: z.string().nullable(),
  failed: z
    .array(z.string())
    .meta({ description: 'The plugins that failed at the last attempt; it is tried again while it runs.' }),
})

const full = brief.extend({
  report: facts.nullable().meta({ description: 'Once all is done.' }),
  signed: signed.nullable(),
  ledger_seq: z.int().nullable().meta({ description: 'The entry of the ledger that has it, too.' }),
})

const counted = z.object({
  dry_run: z.literal(true),
  found: sums.meta({ description: 'What each plugin keeps of the user.' }),
  unclaimed: z
    .array(z.string())
    .meta({ description: 'Stored data of plugins that are gone, which cannot be asked.' }),
})

/** Erases, for admins, and shows what became of it. */
export function addRoutes({ route }: Context<unknown>, erasures: Erasures): void {
  route({
    method: 'post',
    path: `${path}/erase`,
    access: 'admin',
    summary:
      'Erase the data of a user everywhere, also of a deleted user, or only count it; the account stays',
    body: z.strictObject({
      user_id: z.string().min(1).max(200),
      dry_run: z.boolean().default(false).meta({ description: 'Counts, and erases nothing.' }),
    }),
    returns: answers({ 200: counted, 202: brief }),
    async handle({ body: { user_id, dry_run }, principal }) {
      if (!dry_run) return answer(202, briefOf(await erasures.begin(user_id, principal!.keyId)))
      const { found, unclaimed } = await erasures.count(user_id)
      return answer(200, { dry_run: true as const, found: { ...found }, unclaimed })
    },
  })

  route({
    method: 'get',
    path: `${path}/reports`,
    access: 'admin',
    summary: 'Erasures, newest first',
    query: listQuery.extend({ status: z.enum(statuses).optional() }),
    returns: listOf('reports', brief),
    async handle({ query: { status, ...query } }) {
      const of = status === undefined ? { index: 'requested' } : { index: 'status', equals: status }
      const page = await storedPage(query, (window) =>
        erasures.rows.list({ ...window, ...of, reverse: true }),
      )
      return listed('reports', shown(page, briefOf), query)
    },
  })

  route({
    method: 'get',
    path: `${path}/reports/{id}`,
    access: 'admin',
    summary: 'An erasure with its signed report',
    params: z.strictObject({ id: z.string().max(100) }),
    returns: full,
    async handle({ params: { id } }) {
      const row = await erasures.rows.get(id)
      if (!row) throw notFound(`There is no report ${id}.`, { param: 'id' })
      const { report = null, signed = null, ledger_seq = null } = row
      return { ...briefOf(row), report, signed, ledger_seq }
    },
  })
}

const briefOf = ({ id, status, requested_at, finished_at, failed }: ErasureRow): z.infer<typeof brief> => ({
  id,
  status,
  requested_at,
  finished_at: finished_at ?? null,
  failed,
})

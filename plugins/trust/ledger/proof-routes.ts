import { z } from 'zod'
import type { Context } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import { ledgerPath } from './audit.ts'
import { checkpointSchema } from './checkpoint-file.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { Verifier } from './verify.ts'

const seq = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER)
const count = z.int()

const verdict = z.object({
  valid: z.boolean(),
  events_checked: count.meta({ description: 'Entries of the range that are as they were written.' }),
  events_read: count.meta({
    description: 'Entries read now; the gateway verified the others since its start.',
  }),
  first_seq: count.nullable(),
  last_seq: count.nullable(),
  head_hash: z.string(),
  broken_at_id: z.string().nullable(),
  broken_at_seq: count.nullable(),
  reason: z.string().nullable(),
  checkpoints_checked: count,
  verified_at: z.string().meta({ format: 'date-time' }),
})

/** What shows that the ledger is whole. */
export function addProofRoutes(
  { route }: Context<unknown>,
  verifier: Verifier,
  checkpoints: Checkpoints,
): void {
  route({
    method: 'get',
    path: `${ledgerPath}/verify`,
    access: 'admin',
    summary: 'Verify the chain and compare it with the checkpoints',
    query: z.strictObject({
      from_seq: seq.optional(),
      to_seq: seq.optional(),
      full: z.stringbool().optional().meta({ description: 'Read again what was verified since the start.' }),
    }),
    returns: verdict,
    handle: ({ query }) => verifier.verify(query),
  })

  route({
    method: 'get',
    path: `${ledgerPath}/checkpoints`,
    access: 'admin',
    summary: 'Signed checkpoints of the ledger, newest first',
    query: listQuery,
    returns: listOf('checkpoints', checkpointSchema),
    throws: [409],
    async handle({ query }) {
      const all = (await checkpoints.all()).reverse()
      return listed(
        'checkpoints',
        pageOf(all, query, ({ signature }) => signature),
        query,
      )
    },
  })

  route({
    method: 'post',
    path: `${ledgerPath}/checkpoints`,
    access: 'admin',
    summary: 'Make a checkpoint of the end of the ledger',
    status: 201,
    returns: checkpointSchema,
    throws: [409],
    handle: () => checkpoints.make(),
  })
}

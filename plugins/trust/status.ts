import { z } from 'zod'
import type { Context, Ledger } from '#kernel'
import type { FeedbackStore } from './feedback/store.ts'
import type { Policies } from './policies/policies.ts'
import type { Replays } from './replays/replays.ts'
import { replayStatuses } from './replays/row.ts'

const status = z.object({
  status: z.literal('healthy'),
  ledger: z.object({
    entries: z.int(),
    head_hash: z.string().meta({ description: 'Of the last entry; 64 zeros while there is none.' }),
  }),
  policies: z.object({
    total: z.int(),
    enforced: z.int(),
    shadow: z.int().meta({ description: 'Those that only record.' }),
    off: z.int(),
  }),
  replays: z.object(
    Object.fromEntries(replayStatuses.map((one) => [one, z.int()])) as Record<
      (typeof replayStatuses)[number],
      z.ZodInt
    >,
  ),
  feedback: z.object({ total: z.int() }),
})

interface Parts {
  readonly ledger: Ledger
  readonly policies: Policies
  readonly replays: Replays
  readonly feedback: FeedbackStore
}

/** The state of the area, for admins. */
export function addStatusRoute(
  { route }: Pick<Context<unknown>, 'route'>,
  { ledger, policies, replays, feedback }: Parts,
): void {
  route({
    method: 'get',
    path: '/api/trust/status',
    access: 'admin',
    summary: 'State of the ledger, the policies, the replays and the feedback',
    returns: status,
    async handle() {
      const { seq, hash } = await ledger.head()
      const counted = replayStatuses.map(async (one) => [one, await replays.count({ status: one })] as const)
      const shadow = policies.inForce.filter(({ row }) => row.mode === 'shadow').length
      return {
        status: 'healthy' as const,
        ledger: { entries: seq, head_hash: hash },
        policies: {
          total: policies.all.length,
          enforced: policies.inForce.length - shadow,
          shadow,
          off: policies.all.length - policies.inForce.length,
        },
        replays: Object.fromEntries(await Promise.all(counted)) as Record<
          (typeof replayStatuses)[number],
          number
        >,
        feedback: { total: (await feedback.list({}, { limit: 0 })).total },
      }
    },
  })
}

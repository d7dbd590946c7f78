import { z } from 'zod'
import type { Context } from '#kernel'
import { scopeOf } from '#kit'
import type { Batches } from './batches/batches.ts'
import { batchStatuses } from './batches/rows.ts'
import { runStatuses } from './runs/rows.ts'
import type { Runs } from './runs/runs.ts'
import type { Talks } from './sessions/talks.ts'
import type { Tools } from './tools/tools.ts'
import type { Workflows } from './workflows/workflows.ts'

const countsBy = <S extends string>(statuses: readonly S[]) =>
  z.object(Object.fromEntries(statuses.map((status) => [status, z.int()])) as Record<S, z.ZodInt>)

/** How many there are of each status. */
async function countBy<S extends string>(
  statuses: readonly S[],
  count: (status: S) => Promise<number>,
): Promise<Record<S, number>> {
  const counts = statuses.map(async (status) => [status, await count(status)] as const)
  return Object.fromEntries(await Promise.all(counts)) as Record<S, number>
}

interface Parts {
  readonly workflows: Workflows
  readonly runs: Runs
  readonly batches: Batches
  readonly tools: Tools
  readonly talks: Talks
}

/** The state of the area, of what the caller may see. */
export function addStatusRoute(
  { route }: Pick<Context<unknown>, 'route'>,
  { workflows, runs, batches, tools, talks }: Parts,
): void {
  route({
    method: 'get',
    path: '/api/forge/status',
    access: 'any',
    summary: 'How many workflows the caller may see, runs and batches by their status, tools and sessions',
    returns: z.object({
      status: z.literal('healthy'),
      workflows: z.object({ total: z.int(), enabled: z.int() }),
      runs: countsBy(runStatuses),
      batches: countsBy(batchStatuses),
      tools: z.object({ total: z.int() }),
      sessions: z.object({ total: z.int() }),
    }),
    throws: [403],
    async handle({ principal }) {
      const rows = workflows.shelf.known.seenBy(principal!)
      const user = scopeOf(principal)
      return {
        status: 'healthy' as const,
        workflows: { total: rows.length, enabled: rows.filter(({ enabled }) => enabled).length },
        runs: await countBy(runStatuses, (status) => runs.store.count({ user, status })),
        batches: await countBy(batchStatuses, (status) => batches.store.count({ user, status })),
        tools: { total: tools.known.seenBy(principal!).length },
        sessions: { total: await talks.store.count(user) },
      }
    },
  })
}

import { z } from 'zod'
import type { Context } from '#kernel'
import { scopeOf } from '#kit'
import { runStatuses } from './runs/rows.ts'
import type { Runs } from './runs/runs.ts'
import type { Talks } from './sessions/talks.ts'
import type { Tools } from './tools/tools.ts'
import type { Workflows } from './workflows/workflows.ts'

const runCounts = z.object(
  Object.fromEntries(runStatuses.map((status) => [status, z.int()])) as Record<
    (typeof runStatuses)[number],
    z.ZodInt
  >,
)

interface Parts {
  readonly workflows: Workflows
  readonly runs: Runs
  readonly tools: Tools
  readonly talks: Talks
}

/** The state of the area, of what the caller may see. */
export function addStatusRoute(
  { route }: Pick<Context<unknown>, 'route'>,
  { workflows, runs, tools, talks }: Parts,
): void {
  route({
    method: 'get',
    path: '/api/forge/status',
    access: 'any',
    summary: 'How many workflows the caller may see, runs by their status, and sessions',
    returns: z.object({
      status: z.literal('healthy'),
      workflows: z.object({ total: z.int(), enabled: z.int() }),
      runs: runCounts,
      tools: z.object({ total: z.int() }),
      sessions: z.object({ total: z.int() }),
    }),
    throws: [403],
    async handle({ principal }) {
      const rows = workflows.shelf.known.seenBy(principal!)
      const user = scopeOf(principal)
      const counts = await Promise.all(
        runStatuses.map(async (status) => [status, await runs.store.count({ user, status })] as const),
      )
      return {
        status: 'healthy' as const,
        workflows: { total: rows.length, enabled: rows.filter(({ enabled }) => enabled).length },
        runs: Object.fromEntries(counts) as z.infer<typeof runCounts>,
        tools: { total: tools.known.seenBy(principal!).length },
        sessions: { total: await talks.store.count(user) },
      }
    },
  })
}

import { z } from 'zod'
import { type Context, type Principal, TraceReader } from '#kernel'
import { scopeOf } from '#kit'
import { ProviderDirectory, ProviderKeys } from '#provider'
import type { Runs } from '../runs/runs.ts'
import { mostRuns, statsOf } from './stats.ts'

/** Calls that are looked at for how many could be replayed. */
const mostCalls = 1000

const mean = z.number().nullable()

const stats = z.object({
  total_runs: z.int().meta({ description: `Of the newest ${mostRuns} runs, as are all figures of runs.` }),
  successful: z.int(),
  errors: z.int(),
  avg_cost_delta_usd: mean,
  avg_latency_delta_ms: mean,
  model_leaderboard: z.array(
    z.object({
      model: z.string(),
      runs: z.int(),
      avg_cost_usd: mean,
      avg_latency_ms: mean,
      win_rate: z.number().meta({ description: 'The share of its runs that it won over the past call.' }),
    }),
  ),
  available_providers: z
    .array(z.string())
    .meta({ description: 'Those that a run of yours would have a key for.' }),
  replayable_traces: z.int().meta({
    description: `Of your newest ${mostCalls} calls, those that were answered and are no embeddings. One whose body is not stored counts too.`,
  }),
})

/** Figures of the caller's runs, or with an admin key of all. */
export function addStatsRoute({ route, use }: Pick<Context<unknown>, 'route' | 'use'>, runs: Runs): void {
  async function providersOf({ userId }: Principal): Promise<string[]> {
    const { providers } = use(ProviderDirectory)
    const keys = use(ProviderKeys)
    const usable = await Promise.all(
      providers.map(({ name, configured }) => configured || (userId !== undefined && keys.has(userId, name))),
    )
    return providers.filter((_, i) => usable[i]).map(({ name }) => name)
  }

  async function replayable(user_id: string | undefined): Promise<number> {
    let [seen, found] = [0, 0]
    for await (const { status_code, operation, source } of use(TraceReader).scan({ user_id })) {
      if (seen === mostCalls) break
      seen += 1
      if (status_code === 200 && operation !== 'embedding' && source !== 'manual') found += 1
    }
    return found
  }

  route({
    method: 'get',
    path: '/api/replay/stats',
    access: 'any',
    summary: 'Figures of your runs, or with an admin key of all, and how models did in them',
    returns: stats,
    throws: [403],
    async handle({ principal }) {
      const user = scopeOf(principal)
      const [figures, available_providers, replayable_traces] = await Promise.all([
        statsOf(runs.scan(user)),
        providersOf(principal!),
        replayable(user),
      ])
      return { ...figures, available_providers, replayable_traces }
    },
  })
}

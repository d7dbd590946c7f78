import { z } from 'zod'
import { Autopilot, type Context } from '#kernel'
import type { Changes } from './changes.ts'
import { type Optimizer, tracesNeeded } from './optimizer.ts'
import { report } from './shapes.ts'
import type { Turn } from './turn.ts'

const path = '/api/optimize'

/** What to change, and changing it; for admins, as it is about the calls of all. */
export function addOptimizeRoutes(
  { find, route }: Pick<Context<unknown>, 'find' | 'route'>,
  { optimizer, changes, turn }: { optimizer: Optimizer; changes: Changes; turn: Turn },
): void {
  route({
    method: 'get',
    path,
    access: 'admin',
    summary: 'Whether there is enough to look at, and when it was last looked at',
    returns: z.object({
      status: z.enum(['ready', 'needs_data']),
      traces_available: z.int().meta({ description: "Clients' own calls of the last seven days." }),
      traces_needed: z.int(),
      total_spend_7d: z.number(),
      models_calibrated: z.int().meta({ description: 'Models that autopilot has a score of.' }),
      enabled: z.boolean().meta({ description: 'Whether autopilot routes calls.' }),
      last_run: z
        .object({
          at: z.string().meta({ format: 'date-time' }),
          duration_ms: z.number(),
          action_count: z.int(),
          applied_count: z.int(),
          grade: z.string().nullable(),
        })
        .nullable(),
    }),
    async handle() {
      const { requests, spendUsd } = await optimizer.week()
      const { isOn = false, modelsCalibrated = 0 } = find(Autopilot)?.standing ?? {}
      return {
        status: requests < tracesNeeded ? ('needs_data' as const) : ('ready' as const),
        traces_available: requests,
        traces_needed: tracesNeeded,
        total_spend_7d: spendUsd,
        models_calibrated: modelsCalibrated,
        enabled: isOn,
        last_run: (await turn.last()) ?? null,
      }
    },
  })

  route({
    method: 'post',
    path,
    access: 'admin',
    summary: 'Look at the calls of a week and say what to change; with `apply: true` what is safe is changed',
    body: z.strictObject({ apply: z.boolean().default(false) }).prefault({}),
    returns: report,
    throws: [409],
    handle: ({ body: { apply }, ...by }) =>
      turn.take(
        () => optimizer.run(apply, by),
        ({ generated_at, duration_ms, summary, applied }) => ({
          at: generated_at,
          duration_ms,
          action_count: summary.action_count,
          applied_count: applied.length,
          grade: summary.grade,
        }),
      ),
  })

  route({
    method: 'post',
    path: `${path}/rollback`,
    access: 'admin',
    summary: 'Take back a change that was applied',
    body: z.strictObject({ rollback_id: z.string().min(1).max(100) }),
    returns: z.object({ rollback_id: z.string(), generation: z.int(), hash: z.string() }),
    throws: [404, 409],
    async handle({ body: { rollback_id }, ...by }) {
      const { generation, hash } = await changes.takeBack(rollback_id, by)
      return { rollback_id, generation, hash }
    },
  })
}

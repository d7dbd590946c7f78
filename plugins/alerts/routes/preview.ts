import { z } from 'zod'
import { badRequest, type Context, type PulseSettings, TraceReader } from '#kernel'
import { ruleOf, warningsOf } from '../given.ts'
import { ruleInput } from '../input.ts'
import { mostCalls, preview } from '../preview.ts'
import { path } from './rules.ts'

/** A preview ends after this time with what it has. */
const budgetMs = 20_000
const hourMs = 3_600_000
const mostHours = 24 * 31

const usualPulse: PulseSettings = { everyMs: 10_000, cooldownMs: undefined, mostGroups: 1000 }

const time = z.string().meta({ format: 'date-time' })

/** To try a rule on the calls of the past. */
export function addPreviewRoute(context: Context<unknown>, pulse: () => PulseSettings | undefined): void {
  context.route({
    method: 'post',
    path: `${path}/preview`,
    access: 'admin',
    summary:
      'How often an alert rule would have fired in the past, and when; nothing is stored and nobody is told',
    reads: true,
    body: z.strictObject({
      rule: ruleInput,
      hours: z
        .number()
        .min(0.01)
        .max(mostHours)
        .default(24)
        .meta({ description: 'How far back, from `to`.' }),
      to: z.iso.datetime({ offset: true }).optional().meta({ description: 'Now without it.' }),
      examples: z.int().min(0).max(500).default(50).meta({ description: 'How many firings to show.' }),
    }),
    returns: z.object({
      from: time,
      to: time,
      calls: z.int().meta({ description: `Calls that were read, ${mostCalls} at the most, the newest.` }),
      complete: z
        .boolean()
        .meta({ description: 'Whether all calls of the time were read in the time of a preview.' }),
      would_fire: z.int(),
      groups_dropped: z.int(),
      firings: z.array(
        z.object({
          group: z.string().nullable(),
          metric_value: z.number(),
          fired_at: time,
          resolved_at: time.nullable(),
        }),
      ),
      warnings: z.array(z.string()),
    }),
    async handle({ body: { rule, hours, to, examples }, signal }) {
      const row = await ruleOf(context, rule)
      const until = to === undefined ? Date.now() : Date.parse(to)
      if (until > Date.now() + hourMs) throw badRequest('body to: lies in the future.', { param: 'to' })
      const since = until - hours * hourMs
      const asked = {
        from: since,
        to: until,
        pulse: pulse() ?? usualPulse,
        mostShown: examples,
        budgetMs,
        signal,
      }
      const found = await preview(row, context.use(TraceReader), asked)
      return {
        from: new Date(since).toISOString(),
        to: new Date(until).toISOString(),
        calls: found.calls,
        complete: found.complete,
        would_fire: found.firings,
        groups_dropped: found.groupsDropped,
        firings: found.shown.map(({ group, value, firedAt, resolvedAt }) => ({
          group,
          metric_value: value,
          fired_at: new Date(firedAt).toISOString(),
          resolved_at: resolvedAt === undefined ? null : new Date(resolvedAt).toISOString(),
        })),
        warnings: warningsOf(row),
      }
    },
  })
}

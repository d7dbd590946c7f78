import { z } from 'zod'
import { type Context, findingActions, TraceReader } from '#kernel'
import { eachPastCall } from '#kit'
import { choose, chosenPolicies } from '../chosen.ts'
import type { Policies } from '../policies.ts'
import { isViolated, sampleOf } from '../sample.ts'

/** A search ends after this time with what it has. */
const budgetMs = 20_000

const question = z.strictObject({
  ...chosenPolicies,
  project: z.string().max(400).optional().meta({ description: 'Only calls of this project.' }),
  calls: z.int().min(1).max(100_000).default(5000).meta({ description: 'How many calls, newest first.' }),
  examples: z
    .int()
    .min(0)
    .max(100)
    .default(10)
    .meta({ description: 'How many calls to show for each policy.' }),
})

const result = z.object({
  checked: z.int().meta({ description: 'Calls that policies were tried on.' }),
  without_bodies: z.int().meta({ description: 'Of them, calls whose texts are not stored any more.' }),
  complete: z
    .boolean()
    .meta({ description: 'Whether all these calls were looked at in the time of a search.' }),
  policies: z.array(
    z.object({
      policy_id: z.string(),
      name: z.string(),
      action: z.enum(findingActions),
      violations: z
        .int()
        .nullable()
        .meta({ description: 'Calls; null for a policy about addresses, which are not stored.' }),
      trace_ids: z.array(z.string()),
    }),
  ),
})

/** To try policies on the calls of the past. Texts are searched as they were stored, so what was redacted is gone. */
export function addHistoryRoute(
  { route, use }: Pick<Context<unknown>, 'route' | 'use'>,
  policies: Policies,
): void {
  route({
    method: 'post',
    path: '/api/trust/policies/history',
    access: 'admin',
    summary: 'How many past calls trust policies would have met',
    reads: true,
    body: question,
    returns: result,
    throws: [404],
    async handle({ body: { project, calls, examples, ...which }, signal }) {
      const tries = choose(which, policies).map((policy) => ({
        policy,
        isKnown: policy.row.rules.every(({ field }) => field !== 'ip'),
        violations: 0,
        traces: [] as string[],
      }))
      let checked = 0
      let withoutBodies = 0
      const traces = use(TraceReader)
      const complete = await eachPastCall(traces, { project }, { calls, budgetMs, signal }, async (call) => {
        const bodies = await traces.bodies(call.id)
        const sample = sampleOf(call, bodies)
        checked += 1
        if (!bodies || bodies.erased) withoutBodies += 1
        for (const one of tries) {
          if (!one.isKnown || !isViolated(one.policy, sample)) continue
          one.violations += 1
          if (one.traces.length < examples) one.traces.push(call.id)
        }
      })
      return {
        checked,
        without_bodies: withoutBodies,
        complete,
        policies: tries.map(({ policy: { id, row }, isKnown, violations, traces: trace_ids }) => ({
          policy_id: id,
          name: row.name,
          action: row.action,
          violations: isKnown ? violations : null,
          trace_ids,
        })),
      }
    },
  })
}

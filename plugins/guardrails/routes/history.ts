import { z } from 'zod'
import { type Context, findingActions, notFound, TraceReader } from '#kernel'
import { guardrailRule } from '#kit'
import { type CompiledRule, compileInput } from '../compile.ts'
import { PastSearch } from '../past.ts'
import type { Rules } from '../rules.ts'

/** A search ends after this time with what it has. */
const budgetMs = 20_000

const question = z.strictObject({
  rules: z.array(guardrailRule).min(1).max(100).optional().meta({
    description: 'Rules to try. They need not be stored.',
  }),
  rule_ids: z.array(z.string()).min(1).max(100).optional().meta({
    description: 'Stored rules to try, also those that are off. All that are on without this and `rules`.',
  }),
  project: z.string().optional().meta({ description: 'Only calls of this project.' }),
  calls: z.int().min(1).max(100_000).default(5000).meta({ description: 'How many calls, newest first.' }),
  examples: z.int().min(0).max(100).default(10).meta({ description: 'How many calls with matches to show.' }),
})

const result = z.object({
  checked: z.int().meta({ description: 'Calls whose bodies were searched.' }),
  without_bodies: z.int().meta({ description: 'Calls whose bodies are not stored, or not whole.' }),
  matched: z.int().meta({ description: 'Calls in which a rule matched.' }),
  complete: z
    .boolean()
    .meta({ description: 'Whether all these calls were looked at in the time of a search.' }),
  by_rule: z.array(
    z.object({
      rule_id: z.string(),
      rule_name: z.string(),
      action: z.enum(findingActions),
      calls: z.int(),
      matches: z.int(),
    }),
  ),
  examples: z.array(
    z.object({
      trace_id: z.string(),
      timestamp: z.string(),
      rule_ids: z.array(z.string()),
      match_preview: z.string(),
    }),
  ),
})

/** To try rules on the calls of the past. Bodies are searched as they were stored, so what was redacted is gone. */
export function addHistoryRoute({ route, use }: Pick<Context<unknown>, 'route' | 'use'>, rules: Rules): void {
  const chosen = ({
    rules: given,
    rule_ids: ids,
    project,
  }: Pick<z.infer<typeof question>, 'rules' | 'rule_ids' | 'project'>): CompiledRule[] => {
    if (given) return compileInput(given)
    if (!ids) return rules.on(project)
    return [...new Set(ids)].map((id) => {
      const rule = rules.get(id)
      if (!rule) throw notFound(`There is no guardrail rule ${id}.`, { param: 'rule_ids' })
      return rule
    })
  }

  route({
    method: 'post',
    path: '/api/guardrails/history',
    access: 'admin',
    summary: 'How often guardrail rules would have matched in the past calls that they are for',
    reads: true,
    body: question,
    returns: result,
    throws: [404],
    async handle({ body: { project, calls, examples, ...body }, signal }) {
      const search = new PastSearch(chosen({ project, ...body }), examples)
      const complete = await search.run(use(TraceReader), project, { calls, budgetMs, signal })
      return {
        checked: search.checked,
        without_bodies: search.withoutBodies,
        matched: search.matched,
        complete,
        by_rule: search.sums.map(({ rule: { id, row, action }, ...sums }) => ({
          rule_id: id,
          rule_name: row.name,
          action,
          ...sums,
        })),
        examples: search.examples.map(({ id, at, hits }) => ({
          trace_id: id,
          timestamp: new Date(at).toISOString(),
          rule_ids: [...new Set(hits.map(({ ruleId }) => ruleId))],
          match_preview: hits[0]!.preview,
        })),
      }
    },
  })
}

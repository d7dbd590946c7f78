import { z } from 'zod'
import { listed, listOf, type listQuery, shown, storedPage, usdOf } from '#kit'
import { nameOf } from './assertion.ts'
import { assertionsOf, type Plan } from './plan.ts'
import { type AnswerRow, problem } from './rows.ts'
import type { Runs } from './runs.ts'

/** An answer of a run, row by row. */
const answerItem = z.object({
  variant: z.string(),
  model: z.string(),
  input: z.string(),
  repetition: z.int(),
  status: z.enum(['scored', 'unscored', 'error']),
  score: z.number().nullable(),
  passed: z.boolean().nullable(),
  scores: z.record(z.string(), z.number().nullable()),
  output: z.string().nullable().meta({ description: 'The first 20,000 characters.' }),
  tokens_in: z.int(),
  tokens_out: z.int(),
  cost_usd: z.number().nullable(),
  latency_ms: z.number(),
  trace_id: z.string().nullable(),
  error: problem.nullable(),
})

export const answerList = listOf('answers', answerItem)

/** A page of the answers of a run, in the order of its inputs; with null for what cannot be read any more. */
export async function answersOf(runs: Runs, run: string, query: z.infer<typeof listQuery>) {
  const plan = await runs.planOf(run)
  const { items: rows, ...page } = await storedPage(query, (window) => runs.store.answersPage(run, window))
  const read = await Promise.all(rows.map(async (row) => ({ row, output: await runs.textOf(row) })))
  return listed(
    'answers',
    shown({ ...page, items: read }, ({ row, output }) => itemOf(plan!, row, output)),
    query,
  )
}

function itemOf(plan: Plan, row: AnswerRow, output: string | null): z.infer<typeof answerItem> {
  const one = plan.cases[row.case]!
  const { id, model } = plan.arms[row.arm]!
  const names = assertionsOf(plan, one).map(nameOf)
  return {
    variant: id,
    model,
    input: one.name,
    repetition: row.repetition,
    status: row.status,
    score: row.score ?? null,
    passed: row.passed ?? null,
    scores: Object.fromEntries(row.scores.map((score, at) => [names[at]!, score])),
    output,
    tokens_in: row.tokens_in,
    tokens_out: row.tokens_out,
    cost_usd: row.cost_nano === undefined ? null : usdOf(row.cost_nano),
    latency_ms: row.latency_ms,
    trace_id: row.trace_id ?? null,
    error: row.error ?? null,
  }
}

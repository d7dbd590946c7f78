import { z } from 'zod'
import { usdOf } from '#kit'
import { decide, meanOf, withoutGaps } from '../experiments/decide.ts'
import { durationOf } from '../experiments/results.ts'
import { costOf, figuresOf } from '../runs/figures.ts'
import type { Plan } from '../runs/plan.ts'
import type { AnswerRow, RunRow } from '../runs/rows.ts'
import { scoredOf } from '../runs/work.ts'

const figure = z.number().nullable()

const caseResult = z.object({
  model: z.string(),
  score: figure.meta({ description: 'The mean of its answers; null without one that has a score.' }),
  passed: z.int().meta({ description: 'Answers that pass all assertions.' }),
  runs: z.int(),
  errors: z.int(),
  latency_ms: figure,
  cost_usd: z.number(),
  output_trace_id: z.string().nullable(),
})

const rank = z.object({
  model: z.string(),
  score: figure.meta({ description: 'The mean over the cases, by their weights.' }),
  ci: z
    .object({ low: figure, high: figure })
    .nullable()
    .meta({ description: 'The interval of 95 % confidence; null where cases have different weights.' }),
  pass_rate: figure,
  cost_usd: z.number(),
  latency_ms: figure,
  p95_latency_ms: figure,
  runs: z.int(),
  errors: z.int().meta({ description: 'Calls without an answer, which say nothing of the model.' }),
  unscored: z.int(),
})

/** What a run of a benchmark has found so far. */
export const report = z.object({
  prompts: z.array(
    z.object({
      name: z.string(),
      results: z.array(caseResult),
      winner: z
        .string()
        .nullable()
        .meta({ description: 'The one with the highest score; null where several have it.' }),
    }),
  ),
  win_counts: z.record(z.string(), z.int()),
  overall_winner: z.string().nullable().meta({
    description:
      'The model that is better than every other, as experiments decide it; null unless that is shown.',
  }),
  leaderboard: z.array(rank).meta({ description: 'The highest score first.' }),
  total_cost_usd: z.number(),
  duration_ms: z.int(),
})
type Report = z.infer<typeof report>

export function reportOf(run: RunRow, plan: Plan, answers: readonly AnswerRow[]): Report {
  const prompts = plan.cases.map(({ name }, at) => {
    const results = plan.arms.map(({ id }, arm) =>
      resultOf(
        id,
        answers.filter((row) => row.case === at && row.arm === arm),
      ),
    )
    return { name, results, winner: bestOf(results) }
  })
  const { winner } = decide(plan, withoutGaps(answers.map(scoredOf)))
  return {
    prompts,
    win_counts: Object.fromEntries(
      plan.arms.map(({ id }) => [id, prompts.filter(({ winner }) => winner === id).length]),
    ),
    overall_winner: winner === undefined || plan.arms.length < 2 ? null : plan.arms[winner]!.id,
    leaderboard: plan.arms
      .map(({ id }, arm) =>
        rankOf(
          id,
          plan,
          answers.filter((row) => row.arm === arm),
          prompts.map(({ results }) => results[arm]!.score),
        ),
      )
      .sort((a, b) => (b.score ?? -1) - (a.score ?? -1)),
    total_cost_usd: usdOf(run.cost_nano),
    duration_ms: durationOf(run),
  }
}

function resultOf(model: string, rows: readonly AnswerRow[]): z.infer<typeof caseResult> {
  const answered = rows.filter(({ status }) => status !== 'error')
  const scores = rows.flatMap(({ score }) => score ?? [])
  return {
    model,
    score: scores.length === 0 ? null : meanOf(scores),
    passed: rows.filter(({ passed }) => passed).length,
    runs: rows.length,
    errors: rows.length - answered.length,
    latency_ms: answered.length === 0 ? null : meanOf(answered.map(({ latency_ms }) => latency_ms)),
    cost_usd: costOf(rows),
    output_trace_id: answered[0]?.trace_id ?? null,
  }
}

function bestOf(results: Report['prompts'][number]['results']): string | null {
  const highest = Math.max(...results.map(({ score }) => score ?? -1))
  const best = results.filter(({ score }) => score === highest)
  return best.length === 1 && results.length > 1 ? best[0]!.model : null
}

function rankOf(
  model: string,
  plan: Plan,
  rows: readonly AnswerRow[],
  scores: readonly (number | null)[],
): z.infer<typeof rank> {
  const { pass_rate, cost_usd, avg_latency_ms, p95_latency_ms, runs, errors, unscored, ci_low, ci_high } =
    figuresOf(plan, rows)
  const isEven = plan.cases.every(({ weight }) => weight === plan.cases[0]!.weight)
  return {
    model,
    score: weighted(plan, scores),
    ci: isEven ? { low: ci_low, high: ci_high } : null,
    pass_rate: pass_rate.mean,
    cost_usd,
    latency_ms: avg_latency_ms,
    p95_latency_ms,
    runs,
    errors,
    unscored,
  }
}

/** The mean of the cases that have a score, by their weights. */
function weighted({ cases }: Plan, scores: readonly (number | null)[]): number | null {
  let sum = 0
  let weights = 0
  for (const [at, score] of scores.entries()) {
    if (score === null) continue
    sum += score * cases[at]!.weight
    weights += cases[at]!.weight
  }
  return weights === 0 ? null : sum / weights
}

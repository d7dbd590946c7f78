import { z } from 'zod'
import { Mean, shareOf, usdOf } from '#kit'
import { nameOf } from './assertion.ts'
import { assertionsOf, type Plan } from './plan.ts'
import type { AnswerRow } from './rows.ts'

const figure = z.number().nullable()

/** A score with its interval of 95 % confidence. */
const scoreShape = z.object({ mean: figure, ci_low: figure, ci_high: figure })
type Score = z.infer<typeof scoreShape>

/** The figures of one arm of a run. */
export const armFigures = z.object({
  runs: z.int().meta({ description: 'Calls that were made, those that failed included.' }),
  errors: z
    .int()
    .meta({ description: 'Calls without an answer. They say nothing of the model, and have no score.' }),
  unscored: z.int().meta({ description: 'Answers that no judge has judged.' }),
  avg_latency_ms: figure,
  p95_latency_ms: figure,
  avg_tokens_in: figure,
  avg_tokens_out: figure,
  avg_cost_usd: figure.meta({ description: 'Of answers whose price is known, without judges.' }),
  cost_usd: z.number().meta({ description: 'Of all calls of it, with judges.' }),
  scores: z.record(z.string(), scoreShape).meta({
    description: 'By evaluator, over the inputs: mean and interval of 95 % confidence, by Wilson or Student.',
  }),
  eval_score: figure.meta({ description: 'The weighted mean of the scores.' }),
  ci_low: figure,
  ci_high: figure,
  pass_rate: scoreShape.meta({ description: 'The share of answers that pass all assertions.' }),
})

/** The figures of the answers of one arm. */
export function figuresOf(plan: Plan, all: readonly AnswerRow[]): z.infer<typeof armFigures> {
  const answers = all.filter(({ status }) => status !== 'error')
  const scored = answers.filter(({ status }) => status === 'scored')
  const times = answers.map(({ latency_ms }) => latency_ms)
  const total = scoreOf(scored.map((row) => [row.case, row.score!]))
  return {
    runs: all.length,
    errors: all.length - answers.length,
    unscored: answers.length - scored.length,
    avg_latency_ms: meanIn(times),
    p95_latency_ms: quantile(times, 0.95),
    avg_tokens_in: meanIn(answers.map(({ tokens_in }) => tokens_in)),
    avg_tokens_out: meanIn(answers.map(({ tokens_out }) => tokens_out)),
    avg_cost_usd: meanIn(
      answers.flatMap(({ cost_nano }) => (cost_nano === undefined ? [] : usdOf(cost_nano))),
    ),
    cost_usd: costOf(all),
    scores: scoresByName(plan, answers),
    eval_score: total.mean,
    ci_low: total.ci_low,
    ci_high: total.ci_high,
    pass_rate: passRate(scored),
  }
}

/** What answers have cost, with their judges. */
export const costOf = (answers: readonly AnswerRow[]): number =>
  usdOf(answers.reduce((sum, { cost_nano = 0, judge_cost_nano }) => sum + cost_nano + judge_cost_nano, 0))

function scoresByName(plan: Plan, answers: readonly AnswerRow[]): Record<string, Score> {
  const found = new Map<string, [number, number][]>()
  for (const { case: at, scores } of answers)
    for (const [n, assertion] of assertionsOf(plan, plan.cases[at]!).entries()) {
      const name = nameOf(assertion)
      const list = found.get(name) ?? []
      found.set(name, list)
      const score = scores[n]
      if (typeof score === 'number') list.push([at, score])
    }
  return Object.fromEntries(Array.from(found, ([name, list]) => [name, scoreOf(list)]))
}

/** The mean over inputs, each with the mean of its repetitions: these are no samples of their own. */
function scoreOf(scores: readonly (readonly [number, number])[]): Score {
  const byCase = new Map<number, Mean>()
  for (const [at, score] of scores) {
    const mean = byCase.get(at) ?? new Mean()
    byCase.set(at, mean)
    mean.add(score)
  }
  const values = Array.from(byCase.values(), ({ estimate }) => estimate.value!)
  if (values.every((value) => value === 0 || value === 1))
    return shown(shareOf(values.filter((value) => value === 1).length, values.length))
  const mean = new Mean()
  for (const value of values) mean.add(value)
  return shown(mean.estimate)
}

const passRate = (scored: readonly AnswerRow[]): Score =>
  shown(shareOf(scored.filter(({ passed }) => passed).length, scored.length))

const shown = ({
  value,
  low,
  high,
}: {
  value: number | null
  low: number | null
  high: number | null
}): Score => ({
  mean: value,
  ci_low: low === null ? null : Math.max(0, low),
  ci_high: high === null ? null : Math.min(1, high),
})

const meanIn = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

/** The smallest value that is at least as large as this share of them; null of none. */
function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
}

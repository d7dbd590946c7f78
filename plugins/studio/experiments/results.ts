import { z } from 'zod'
import { usdOf } from '#kit'
import { armFigures, figuresOf } from '../runs/figures.ts'
import type { Arm, Plan } from '../runs/plan.ts'
import type { AnswerRow, RunRow } from '../runs/rows.ts'
import { scoredOf } from '../runs/work.ts'
import { type Decision, decide, type Pair, withoutGaps } from './decide.ts'
import { isRatioOdd } from './ratio.ts'

const output = z.object({ input: z.string(), output: z.string().nullable(), trace_id: z.string().nullable() })

const pair = z.object({
  a: z.string(),
  b: z.string(),
  samples: z.int(),
  difference: z.number().nullable().meta({ description: 'The mean score of a above that of b.' }),
  low: z.number().nullable(),
  high: z.number().nullable(),
})

const verdicts = ['winner', 'no_difference', 'undecided', 'not_enough_samples'] as const

/** What an experiment has found so far. */
export const results = z.object({
  variants: z.array(
    armFigures.extend({
      id: z.string(),
      name: z.string().nullable(),
      model: z.string(),
      provider: z.string().nullable(),
      template_version: z.int().nullable(),
      outputs: z
        .array(output)
        .meta({ description: 'The first answers; the others have a route of their own.' }),
    }),
  ),
  verdict: z.enum(verdicts),
  winner: z
    .string()
    .nullable()
    .meta({ description: 'The variant that is better than every other; null unless that is shown.' }),
  win_reason: z.string(),
  confidence: z.number().nullable().meta({ description: 'Of the verdict; null while there is none.' }),
  method: z.string(),
  pairs: z.array(pair).meta({
    description: 'Differences with bounds that hold at any time of looking, for all pairs together.',
  }),
  samples: z.int().meta({ description: 'Inputs that were compared, of the pair with the fewest.' }),
  samples_needed: z
    .int()
    .meta({ description: 'Inputs that it probably takes to find a difference of min_effect.' }),
  warnings: z.array(z.enum(['sample_ratio_mismatch', 'errors', 'stopped_early'])),
  total_cost_usd: z.number(),
  duration_ms: z.int(),
})

/** Named as in the literature. */
const method =
  'Hedged-capital confidence sequence for the mean of differences (Waudby-Smith and Ramdas 2024), Bonferroni over pairs'

/** Answers of an arm that are shown. */
const mostShown = 3

/** The results of an experiment; `textOf` reads what an answer says. */
export async function resultsOf(
  run: RunRow,
  plan: Plan,
  answers: readonly AnswerRow[],
  textOf: (answer: AnswerRow) => Promise<string | null>,
): Promise<z.infer<typeof results>> {
  const decision = decide(plan, withoutGaps(answers.map(scoredOf)))
  const variants = await Promise.all(
    plan.arms.map(async (arm, at) => {
      const own = answers.filter((row) => row.arm === at)
      const first = own.filter(({ status }) => status !== 'error').slice(0, mostShown)
      return {
        id: arm.id,
        name: arm.name ?? null,
        model: arm.model,
        provider: first[0]?.provider ?? arm.provider ?? null,
        template_version: arm.template?.version ?? null,
        ...figuresOf(plan, own),
        outputs: await Promise.all(
          first.map(async (row) => ({
            input: plan.cases[row.case]!.name,
            output: await textOf(row),
            trace_id: row.trace_id ?? null,
          })),
        ),
      }
    }),
  )
  const isDecided = decision.verdict === 'winner' || decision.verdict === 'no_difference'
  return {
    variants,
    verdict: decision.verdict,
    winner: decision.winner === undefined ? null : plan.arms[decision.winner]!.id,
    win_reason: reasonOf(decision, plan),
    confidence: isDecided ? plan.stop.confidence : null,
    method,
    pairs: decision.pairs.map((one) => shownPair(one, plan.arms)),
    samples: decision.samples,
    samples_needed: decision.needed,
    warnings: warningsOf(run, plan, answers),
    total_cost_usd: usdOf(run.cost_nano),
    duration_ms: durationOf(run),
  }
}

export const durationOf = ({ started_at, finished_at }: RunRow): number =>
  started_at === undefined ? 0 : Date.parse(finished_at ?? new Date().toISOString()) - Date.parse(started_at)

function warningsOf(run: RunRow, plan: Plan, answers: readonly AnswerRow[]) {
  return [
    ...(isRatioOdd(plan, answers) ? ['sample_ratio_mismatch' as const] : []),
    ...(run.errors > 0 ? ['errors' as const] : []),
    ...(run.is_early ? ['stopped_early' as const] : []),
  ]
}

const shownPair = ({ arms: [a, b], samples, difference, bounds }: Pair, arms: readonly Arm[]) => ({
  a: arms[a]!.id,
  b: arms[b]!.id,
  samples,
  difference,
  low: bounds?.low ?? null,
  high: bounds?.high ?? null,
})

function reasonOf({ verdict, winner, samples, needed }: Decision, { arms, stop }: Plan): string {
  switch (verdict) {
    case 'winner':
      return `${arms[winner!]!.id} scores higher than every other variant, with ${stop.confidence * 100} % confidence over ${samples} inputs.`
    case 'no_difference':
      return `All variants score the same to ${stop.min_effect}, with ${stop.confidence * 100} % confidence over ${samples} inputs.`
    case 'not_enough_samples':
      return `Not enough samples: ${samples} inputs were compared, and nothing is decided below ${stop.min_samples}. A difference of ${stop.min_effect} probably takes ${needed}.`
    case 'undecided':
      return `Not enough samples: ${samples} inputs show no difference between the best variants. One of ${stop.min_effect} probably takes ${needed}.`
  }
}

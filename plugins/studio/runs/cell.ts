import type { ModelRequest } from '#kernel'
import { type Asked, type Asking, askModel } from './ask.ts'
import type { Assertion } from './assertion.ts'
import { judgeAnswer } from './judge.ts'
import { assertionsOf, type Case, type Cell, type Plan } from './plan.ts'
import type { AnswerRow } from './rows.ts'
import { passes, type Scorers } from './score.ts'

/** A call that was made and judged. */
export interface MadeCell {
  readonly row: AnswerRow
  readonly text: string | undefined
  /** Whether the run may ask no more. */
  readonly isTooDear: boolean
}

/** Makes one call of a run, and judges its answer. Rejects where the budget is used up before it. */
export async function makeCell(
  asking: Asking,
  plan: Plan,
  cell: Cell,
  request: ModelRequest,
  scorers: Scorers,
): Promise<MadeCell> {
  const one = plan.cases[cell.case]!
  const asked = await askModel(asking, request, one.added)
  const all = assertionsOf(plan, one)
  const { scores, cost_nano, isTooDear } =
    asked.text === undefined
      ? { scores: [], cost_nano: 0, isTooDear: false }
      : await scoresOf(asking, all, one, asked.text, scorers)
  return {
    row: {
      ...rowOf(asking.run.id, cell, asked),
      ...summed(all, scores, asked),
      scores,
      judge_cost_nano: cost_nano,
    },
    text: asked.text,
    isTooDear,
  }
}

async function scoresOf(
  asking: Asking,
  all: readonly Assertion[],
  one: Case,
  answer: string,
  scorers: Scorers,
): Promise<{ scores: (number | null)[]; cost_nano: number; isTooDear: boolean }> {
  const scores: (number | null)[] = []
  let cost_nano = 0
  let isTooDear = false
  for (const assertion of all) {
    if (assertion.type !== 'judge') {
      scores.push(await scorers.score(assertion, answer, one.expected))
      continue
    }
    if (isTooDear) {
      scores.push(null)
      continue
    }
    const judged = await judgeAnswer(asking, assertion, one, answer)
    scores.push(judged.score)
    cost_nano += judged.cost_nano
    isTooDear = judged.isTooDear ?? false
  }
  return { scores, cost_nano, isTooDear }
}

/** The weighted mean of the scores, and whether all assertions are passed; nothing where one could not be judged. */
function summed(
  all: readonly Assertion[],
  scores: readonly (number | null)[],
  { text }: Asked,
): Pick<AnswerRow, 'status' | 'score' | 'passed'> {
  if (text === undefined) return { status: 'error' }
  if (scores.includes(null)) return { status: 'unscored' }
  const weights = all.reduce((sum, { weight }) => sum + weight, 0)
  const sum = all.reduce((sum, { weight }, at) => sum + weight * scores[at]!, 0)
  return {
    status: 'scored',
    score: weights === 0 ? 1 : sum / weights,
    passed: all.every((assertion, at) => passes(assertion, scores[at]!)),
  }
}

const rowOf = (run: string, { n, arm, case: at, repetition }: Cell, asked: Asked) => {
  const { provider, tokens_in, tokens_out, cost_nano, latency_ms, trace_id, problem } = asked
  return {
    run,
    n,
    arm,
    case: at,
    repetition,
    ...(provider !== undefined && { provider }),
    tokens_in,
    tokens_out,
    ...(cost_nano !== undefined && { cost_nano }),
    latency_ms,
    trace_id,
    ...(problem && { error: problem }),
    created_at: new Date().toISOString(),
  }
}

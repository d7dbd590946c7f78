import {
  type Candidate,
  type Completion,
  type Context,
  isUpstreamError,
  type ModelRequest,
  Sealing,
} from '#kernel'
import { bodySeals, callProblem, type PastCall, tokenLimit } from '#kit'
import type { Configuration } from '../configuration/fields.ts'
import type { Estimates } from '../routing/estimates.ts'
import { lackOf, needsOf } from '../routing/features.ts'
import type { Asking, Origin } from './asking.ts'
import type { Budget } from './budget.ts'
import { isAsGood, judgeTokens, marksIn, questionTo, saidIn } from './judge.ts'
import { type AnswerRow, answerId, type CalibrationRow } from './rows.ts'

/** Characters of an answer that the log shows. */
const previewLength = 300

/** The most tokens of an answer to a call that sets no limit: so many times those of the reference model's, and at least so many. */
const longer = { times: 4, least: 1024 }

interface Parts {
  readonly context: Pick<Context<unknown>, 'id' | 'find' | 'use'>
  readonly asking: Asking
  readonly estimates: Estimates
  readonly guard: () => Configuration['guard']
  readonly keep: (row: AnswerRow) => Promise<void>
}

interface Pair {
  readonly calibration: CalibrationRow
  readonly past: PastCall
  readonly model: string
  /** What an attempt that was cut off has left. */
  readonly before: AnswerRow | undefined
  readonly budget: Budget
  readonly origin: Origin
}

/** Asks a candidate what the reference model was asked, and has a judge compare both answers. */
export class Comparison {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Keeps what came of it. False when there is no money left for it. */
  async make(pair: Pair): Promise<boolean> {
    const { asking, estimates, keep, guard } = this.#parts
    const { calibration, past, model, budget, origin } = pair
    const begun = rowOf(pair)
    const request = repeated(past, model)
    const judge = { ...calibration.judge }
    const [place, bench] = await Promise.all([
      asking.placeOf(request, origin),
      asking.placeOf(questionTo(judge, past.request, { a: '', b: '' }), origin),
    ])
    const unable = async (error: string, status: 'unsupported' | 'refused' = 'unsupported') => {
      await keep({ ...begun, status, error })
      return true
    }
    if (!place) return unable('No provider with a key serves it.')
    const tokens = estimates.prompt(request, place.model) + tokenLimit(request)!
    const lack = lackOf(place, needsOf(past.request, guard()), tokens)
    if (lack !== undefined) return unable(`It ${lack}.`)
    if (!bench) return unable(`No provider with a key serves the judge ${judge.model}.`, 'refused')
    const bounds = this.#bounds(pair, request, place, bench)
    if (!bounds) return unable('No price of it or of the judge is known.')
    const held = bounds.answer + 2 * bounds.judge
    if (!budget.take(held)) return false
    let used = 0
    try {
      await keep({ ...begun, held_nano: held })
      const asked = await asking.ask(request, place, bounds.answer, origin)
      used += asked.costNano
      origin.signal.throwIfAborted()
      const told: AnswerRow = {
        ...begun,
        held_nano: held,
        answer_nano: asked.costNano,
        ...(asked.provider !== undefined && { provider: asked.provider }),
        ...(asked.latencyMs !== undefined && { latency_ms: asked.latencyMs }),
        ...(asked.tokensOut !== undefined && { tokens_out: asked.tokensOut }),
      }
      if (!asked.answer) {
        const status = isUpstreamError(asked.error) ? 'failed' : 'refused'
        const error = callProblem(asked.error).message
        await keep({ ...told, status, cost_nano: used, error })
        return true
      }
      const verdict = await this.#judge(pair, asked.answer, bench, bounds.judge)
      used += verdict.costNano
      origin.signal.throwIfAborted()
      const { score, error } = verdict
      const previews = await this.#previews(pair, asked.answer)
      const end =
        score === undefined ? { status: 'unscored' as const, error } : { status: 'scored' as const, score }
      await keep({ ...told, ...end, previews, cost_nano: used })
      return true
    } finally {
      // What was cut off may have cost all of it.
      budget.settle(held, origin.signal.aborted ? held : used)
    }
  }

  /** Asks in both orders, so that a judge who prefers the first or the last answer gives half a hit. */
  async #judge(
    { calibration: { judge }, past, origin }: Pair,
    answer: Completion,
    place: Candidate,
    bound: number,
  ): Promise<{ score?: number; error?: string; costNano: number }> {
    const [reference, candidate] = [saidIn(past.response), saidIn(answer)]
    let [hits, costNano] = [0, 0]
    for (const isFirst of [false, true]) {
      const answers = isFirst ? { a: candidate, b: reference } : { a: reference, b: candidate }
      const asked = await this.#parts.asking.ask(
        questionTo(judge, past.request, answers),
        place,
        bound,
        origin,
      )
      costNano += asked.costNano
      if (!asked.answer) return { error: `The judge failed: ${callProblem(asked.error).message}`, costNano }
      const marks = marksIn(asked.answer)
      if (!marks) return { error: 'The judge gave no marks.', costNano }
      hits += isAsGood(isFirst ? marks.a : marks.b, isFirst ? marks.b : marks.a) ? 1 : 0
    }
    return { score: hits / 2, costNano }
  }

  /** The most that the answer, and that each question to the judge, can cost. */
  #bounds(
    { calibration: { judge }, past }: Pair,
    request: ModelRequest,
    place: Candidate,
    bench: Candidate,
  ): { answer: number; judge: number } | undefined {
    const { asking, estimates } = this.#parts
    const limit = tokenLimit(request)!
    const answer = asking.boundOf(request, place, limit)
    const question = questionTo(judge, past.request, { a: saidIn(past.response), b: '' })
    const perToken = estimates.price(bench, { input: limit, output: judgeTokens })
    const judging = asking.boundOf(question, bench, 0)
    if (answer === undefined || perToken === undefined || judging === undefined) return undefined
    return { answer, judge: judging + perToken }
  }

  async #previews({ past }: Pair, answer: Completion): Promise<string> {
    const { context } = this.#parts
    const { user_id: userId, tenant } = past.trace
    const seal = await bodySeals(context, () => context.use(Sealing)).sealFor({ userId, tenant })
    const json = JSON.stringify({
      reference: saidIn(past.response).slice(0, previewLength),
      candidate: saidIn(answer).slice(0, previewLength),
    })
    return seal ? seal(json) : json
  }
}

/** The request of a past call for another model, with a limit of its answer. */
function repeated({ request, trace }: PastCall, model: string): ModelRequest {
  const { n: _, ...rest } = request
  if (tokenLimit(request) !== undefined) return { ...rest, model }
  return { ...rest, model, max_tokens: Math.max(longer.least, longer.times * trace.usage.output) }
}

function rowOf({ calibration, past: { trace }, model, before }: Pair): AnswerRow {
  return {
    id: answerId(calibration.id, trace.id, model),
    calibration_id: calibration.id,
    trace_id: trace.id,
    ...(trace.user_id !== undefined && { user_id: trace.user_id }),
    ...(trace.tenant !== undefined && { tenant: trace.tenant }),
    model,
    status: 'asked',
    held_nano: 0,
    lost_nano: before ? before.lost_nano + before.held_nano : 0,
    at: new Date().toISOString(),
  }
}

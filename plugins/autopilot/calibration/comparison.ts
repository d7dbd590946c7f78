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
import { judgeTokens, questionTo, saidIn } from './judge.ts'
import { judged } from './judging.ts'
import { begunRow, repeated } from './repeat.ts'
import type { AnswerRow, CalibrationRow } from './rows.ts'

/** An answer may have more tokens for the judge than for the model that gave it. */
const spare = 1.5

/** Characters of an answer that the log shows. */
const previewLength = 300

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
    const begun = begunRow(pair)
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
      const verdict = await judged(asking, pair, asked.answer, { place: bench, bound: bounds.judge })
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
    const perToken = estimates.price(bench, { input: Math.ceil(limit * spare), output: judgeTokens })
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

import { type Completion, type Context, type ModelRequest, newId, type Principal, Sealing } from '#kernel'
import {
  type BodySeals,
  bodySeals,
  callProblem,
  collect,
  type PastCall,
  repeatCall,
  sourceUserOf,
} from '#kit'
import type { Caller } from './caller.ts'
import { qualityOf, sideOf, targetOf, unmade } from './figures.ts'
import type { RunRow, Visibility } from './row.ts'
import type { Runs } from './runs.ts'

/** What a run asks. */
export interface Question {
  readonly past: PastCall
  readonly request: ModelRequest
  /** What is other in it than in the past call, to be shown. */
  readonly overrides: Readonly<Record<string, unknown>>
  readonly visibility: Visibility
  readonly batch?: string | undefined
}

/** A run that has ended, and what it was answered. */
export interface EndedRun {
  readonly row: RunRow
  readonly past: PastCall
  readonly request: ModelRequest
  readonly answer: Completion | undefined
}

/** Makes calls of the past again, and keeps what came of it. */
export class RunMaker {
  readonly #context: Pick<Context<unknown>, 'call'>
  readonly #runs: Runs
  readonly #seals: BodySeals
  readonly #underWay = new Map<string, AbortController>()

  constructor(context: Pick<Context<unknown>, 'call' | 'find' | 'id' | 'use'>, runs: Runs) {
    this.#context = context
    this.#runs = runs
    this.#seals = bodySeals(context, () => context.use(Sealing))
  }

  /** Resolves when the run has ended, and its end is stored. A refusal or a failure of the call is an end like any other. */
  async make(question: Question, caller: Caller): Promise<EndedRun> {
    const { past, request } = question
    const begun = await this.#begin(question, caller.as)
    await this.#runs.add(begun)
    const ending = new AbortController()
    this.#underWay.set(begun.id, ending)
    try {
      const signal = AbortSignal.any([caller.signal, ending.signal])
      const { answer, ...end } = await this.#ask(past, request, { ...caller, signal })
      const row: RunRow = { ...begun, ...end, ended_at: new Date().toISOString() }
      await this.#runs.end(row)
      return { row, past, request, answer }
    } finally {
      this.#underWay.delete(begun.id)
    }
  }

  /** Ends the call of a run that is under way. */
  stop(id: string): void {
    this.#underWay.get(id)?.abort()
  }

  /** What a run asked otherwise; empty where it cannot be opened any more. */
  async overridesOf({ overrides }: RunRow): Promise<Record<string, unknown>> {
    const json = await this.#seals.tryOpen(overrides)
    return json === undefined ? {} : (JSON.parse(json) as Record<string, unknown>)
  }

  async #begin(
    { past: { trace }, request: { model }, overrides, visibility, batch }: Question,
    { userId, tenant }: Principal,
  ): Promise<RunRow> {
    const seal = await this.#seals.sealFor({ userId, tenant })
    const json = JSON.stringify(overrides)
    const sourceUser = sourceUserOf(trace)
    return {
      id: newId('rpl_'),
      ...(userId !== undefined && { user_id: userId }),
      ...(tenant !== undefined && { tenant }),
      ...(sourceUser !== undefined && { source_user_id: sourceUser }),
      ...(batch !== undefined && { batch_id: batch }),
      visibility,
      status: 'running',
      source: sideOf(trace),
      target: unmade(model),
      quality: { similarity: null, json_valid: null, source_json_valid: null },
      overrides: seal ? seal(json) : json,
      created_at: new Date().toISOString(),
    }
  }

  async #ask(
    past: PastCall,
    request: ModelRequest,
    caller: Caller,
  ): Promise<Pick<RunRow, 'status' | 'target' | 'quality' | 'error'> & Pick<EndedRun, 'answer'>> {
    const made = repeatCall(this.#context.call, past.trace, request, caller)
    let answer: Completion | undefined
    let error: RunRow['error']
    try {
      answer = await collect(await made.reply)
    } catch (thrown) {
      error = caller.signal.aborted ? ended : callProblem(thrown)
    }
    const target = targetOf(made.id, request.model, await made.outcome)
    const quality = qualityOf(request, past.response, answer)
    return error
      ? { status: 'error', target, quality, error, answer: undefined }
      : { status: 'success', target, quality, answer }
  }
}

const ended = {
  code: 'bad_request',
  message: 'The client left, or the run was deleted, before the answer was there.',
}

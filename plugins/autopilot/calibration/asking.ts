import {
  Call,
  type CallContext,
  type Candidate,
  type Completion,
  type Context,
  kernelServices,
  type ModelRequest,
  newId,
  type Principal,
} from '#kernel'
import { collect, usdOf } from '#kit'
import type { Estimates } from '../routing/estimates.ts'

/**
 * Modules that answer from elsewhere, ask other models, or ask again: the model that is asked has to answer by itself. Passages are in
 * a stored request already, and a judge needs none.
 */
const skipped = [
  ...['playback', 'cachelayer', 'semanticcache', 'embedcache', 'inflight', 'evalgate', 'multicall'],
  ...['modelalias', 'modelswitch', 'abrouter', 'autopilot', 'canarydeploy', 'tierdrop'],
  ...['mirrortest', 'hedgerace', 'fallbackrouter', 'retrypilot', 'contextpack'],
]

/** Estimates of prompts may be below what a provider counts. */
const spare = 1.25

/** The call that is repeated, and in whose name. */
export interface Origin {
  readonly principal: Principal
  readonly ip: string
  readonly project: string
  readonly parent: string
  readonly sourceUser?: string
  readonly signal: AbortSignal
}

/** What came of a question. */
export interface Asked {
  readonly answer: Completion | undefined
  readonly error: unknown
  readonly costNano: number
  readonly latencyMs: number | undefined
  readonly tokensOut: number | undefined
  readonly provider: string | undefined
}

/** Asks models for calibrations: with the keys of the admin who began it, through the guards, and never for more than a bound. */
export class Asking {
  readonly #context: Pick<Context<unknown>, 'call' | 'targets' | 'use'>
  readonly #estimates: Estimates

  constructor(context: Pick<Context<unknown>, 'call' | 'targets' | 'use'>, estimates: Estimates) {
    this.#context = context
    this.#estimates = estimates
  }

  /** Where a request would go; undefined for nowhere. */
  async placeOf(request: ModelRequest, { principal, ip, project }: Origin): Promise<Candidate | undefined> {
    const { number: generation } = this.#context.use(kernelServices.registry).generation
    const context: CallContext = {
      ...{ project, tags: {}, sessionId: undefined, ip, provider: undefined, headers: {} },
      ...{ source: 'calibration', generation },
    }
    const call = new Call({ id: newId('tr_'), operation: 'chat', wire: 'chat', principal, request, context })
    return (await this.#context.targets(call))[0]
  }

  /** The most that a request can cost at a place, with so many tokens of an answer; undefined where no price is known. */
  boundOf(request: ModelRequest, { provider, model }: Candidate, output: number): number | undefined {
    const input = Math.ceil(this.#estimates.prompt(request, model) * spare)
    return this.#estimates.price({ provider, model }, { input, output })
  }

  async ask(request: ModelRequest, place: Candidate, boundNano: number, origin: Origin): Promise<Asked> {
    const { principal, ...rest } = origin
    const named = { ...request, model: `${place.provider}/${place.model}` }
    const options = { ...rest, as: principal, source: 'calibration' as const, skip: skipped }
    const made = this.#context.call(named, { ...options, maxCostUsd: usdOf(Math.max(1, boundNano)) })
    let answer: Completion | undefined
    let error: unknown
    try {
      answer = await collect(await made.reply)
    } catch (thrown) {
      error = thrown
    }
    const outcome = await made.outcome
    return {
      answer,
      error,
      costNano: outcome?.cost?.totalNano ?? 0,
      latencyMs: outcome?.latencyMs,
      tokensOut: outcome?.usage.output,
      provider: outcome?.provider,
    }
  }
}

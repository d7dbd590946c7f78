import type { AutopilotEnd, Call, Context } from '#kernel'
import { shareOf } from '#kit'
import type { Configured } from '../configuration/configured.ts'
import type { Chosen } from '../routing/route.ts'
import type { Scores } from '../scores/scores.ts'
import { failureOf } from './failure.ts'

/** Calls of a model that are looked at, the newest. */
const looked = 50
/** Fewer say nothing. */
const least = 10

interface Served {
  readonly model: string
  readonly failed: boolean
}

/**
 * Watches how routed models answer, over all threads: one whose share of answered calls is certainly below what is wanted gets no
 * more calls until it is calibrated again.
 */
export class Drift {
  readonly #configured: Configured
  readonly #scores: Scores
  readonly #newest = new Map<string, boolean[]>()
  readonly #suspended: (model: string) => void
  readonly #served: (served: Served) => void

  constructor(
    { inFirstThread, log }: Pick<Context<unknown>, 'inFirstThread' | 'log'>,
    { configured, scores, suspended }: DriftParts,
  ) {
    this.#configured = configured
    this.#scores = scores
    this.#suspended = suspended
    this.#served = inFirstThread('served', (served: Served) => {
      this.#look(served).catch((error: unknown) => log.error({ err: error }, 'a model was not suspended'))
    })
  }

  /** Takes in how a call went at the model that it was routed to. */
  learn(call: Call, { model, fallback, place }: Chosen, end: AutopilotEnd): void {
    if (fallback === undefined || !place) return
    const failed = failureOf(call, place, end, this.#configured.current.guard.max_latency_ms)
    if (failed !== undefined) this.#served({ model, failed })
  }

  /** Begins anew with a model, after its calibration. */
  forget(model: string): void {
    this.#newest.delete(model)
  }

  async #look({ model, failed }: Served): Promise<void> {
    const { min_success_rate: wanted, confidence } = this.#configured.current
    const calls = [...(this.#newest.get(model) ?? []), failed].slice(-looked)
    this.#newest.set(model, calls)
    const answered = calls.filter((failed) => !failed).length
    if (calls.length < least || shareOf(answered, calls.length, confidence).high! >= wanted) return
    this.forget(model)
    const reason = `it answered ${answered} of its last ${calls.length} calls`
    if (await this.#scores.suspend(model, reason)) this.#suspended(model)
  }
}

interface DriftParts {
  readonly configured: Configured
  readonly scores: Scores
  /** Told once for each suspension. */
  readonly suspended: (model: string) => void
}

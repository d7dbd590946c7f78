import type { Attempt, Decision, TraceSummary } from '#kernel'
import type { CallStatus, Difference } from '#kit'

/** Whole nano-dollars, and the price they were computed by. */
export interface RowCost {
  readonly total_nano: number
  readonly input_nano: number
  readonly output_nano: number
  readonly cache_nano: number
  readonly other_nano: number
  readonly price_id: string
  readonly source: 'catalogue' | 'override' | 'provider'
  /** Attempts that used tokens and have no price; absent when there are none. */
  readonly unpriced?: number
}

export interface RowAttempt extends Pick<Attempt, 'n' | 'provider' | 'model'> {
  readonly key_hint: string | undefined
  readonly status: number | undefined
  readonly latency_us: number | undefined
  /** Absent where it is not known: it has no price, or reported nothing. */
  readonly cost_nano?: number | undefined
  readonly error: string | undefined
  readonly reason_next: string | undefined
}

/** A trace as it is stored: times are whole microseconds and money whole nano-dollars, so that sums are exact. */
export interface TraceRow extends TraceSummary {
  readonly run_id: string | undefined
  /** The model's name at the provider. */
  readonly provider_model: string | undefined
  readonly status: CallStatus
  readonly cost: RowCost | undefined
  /** The price that the answer would have had without the cache. */
  readonly saved_nano: number | undefined
  /** The additional price that the call would have had without the choice of a cheaper model. */
  readonly saved_by_autopilot_nano: number | undefined
  readonly cache: { readonly kind: string; readonly age_s: number; readonly similarity?: number } | undefined
  readonly attempts: readonly RowAttempt[]
  /** Module, hook, microseconds. */
  readonly timings: readonly (readonly [module: string, hook: string, us: number])[]
  /** Module, verdict, detail. */
  readonly notes: readonly (readonly [
    module: string,
    verdict: string,
    detail: Readonly<Record<string, unknown>> | undefined,
    mode?: 'shadow',
  ])[]
  /** Modules that ran in shadow; absent when none did. */
  readonly shadows?: readonly string[]
  /** Module, and the condition of its `when` that was not met; absent when none was passed by. */
  readonly skips?: readonly (readonly [module: string, condition: string])[]
  /** Module, what it changed, where, and how many bytes of JSON that added; absent when nothing was changed. */
  readonly changes?: readonly (readonly [
    module: string,
    of: 'request' | 'reply',
    differences: readonly Difference[],
    /** Absent in traces of earlier versions. */
    bytes?: number,
  ])[]
  readonly decisions: readonly Decision[]
  readonly params_changed: readonly string[]
  readonly generation: number | undefined
  /** Sealed: what it says in the words of its client and of providers, which it then does not say itself. */
  readonly words?: string
  /**
   * Whether bodies were stored; `redacted` when the request was refused before it had been inspected, `none` when it was reported
   * without any.
   */
  readonly bodies: 'stored' | 'redacted' | 'none' | 'off'
}

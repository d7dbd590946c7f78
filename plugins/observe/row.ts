import type { Attempt, Decision, TraceFinding, Usage } from '#kernel'
import type { Difference } from '#kit'

export const statuses = [
  'ok',
  'cache_hit',
  'blocked',
  'rate_limited',
  'error',
  'client_abort',
  'timeout',
] as const

export type Status = (typeof statuses)[number]

/** Whole nano-dollars, and the price they were computed by. */
export interface RowCost {
  readonly total_nano: number
  readonly input_nano: number
  readonly output_nano: number
  readonly cache_nano: number
  readonly other_nano: number
  readonly price_id: string
  readonly source: 'catalogue' | 'override' | 'provider'
}

export interface RowError {
  readonly code: string
  readonly message: string
  readonly provider_status: number | undefined
  readonly retryable: boolean
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
export interface TraceRow {
  readonly id: string
  /** The id that the client sent. */
  readonly request_id: string | undefined
  readonly parent_id: string | undefined
  readonly session_id: string | undefined
  readonly run_id: string | undefined
  /** When the call began, in milliseconds since the epoch. */
  readonly at: number
  readonly source: string
  readonly operation: string
  readonly wire: string
  readonly user_id: string | undefined
  /** Absent where users belong to no tenant. */
  readonly tenant?: string | undefined
  readonly key_id: string
  readonly project: string
  readonly tags: Readonly<Record<string, string>>
  readonly model_requested: string
  /** The model that the call was last sent on for. */
  readonly model: string
  readonly provider: string | undefined
  /** Absent where an attempt went with a key of the operator's. */
  readonly own_key?: true
  /** The model's name at the provider. */
  readonly provider_model: string | undefined
  readonly status: Status
  readonly status_code: number | undefined
  readonly error: RowError | undefined
  readonly stream: boolean
  readonly latency_us: number
  readonly ttft_us: number | undefined
  readonly upstream_us: number
  readonly usage: Usage
  /** Absent when nothing was used, and when the price is not known. */
  readonly cost: RowCost | undefined
  /** The price that the answer would have had without the cache. */
  readonly saved_nano: number | undefined
  /** The additional price that the call would have had without the choice of a cheaper model. */
  readonly saved_by_autopilot_nano: number | undefined
  readonly finish_reason: string | undefined
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
  /** Module, what it changed, and where; absent when nothing was changed. */
  readonly changes?: readonly (readonly [
    module: string,
    of: 'request' | 'reply',
    differences: readonly Difference[],
  ])[]
  /** The findings of guards; absent when there are none. */
  readonly findings?: readonly TraceFinding[]
  readonly decisions: readonly Decision[]
  readonly params_changed: readonly string[]
  readonly facts: Readonly<Record<string, unknown>>
  readonly generation: number | undefined
  /** Whether bodies were stored; `redacted` when the request was refused before it had been inspected. */
  readonly bodies: 'stored' | 'redacted' | 'off'
}

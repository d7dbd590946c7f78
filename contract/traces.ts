import { z } from 'zod'
import type { TraceFinding } from '../kernel/call/findings.ts'
import { defineEvent } from '../kernel/events.ts'
import { guardedToken } from '../kernel/token.ts'
import type { Usage } from '../kit/canonical/usage.ts'

/** A try at a provider, as a trace tells of it. */
export interface TracedAttempt {
  readonly provider: string
  readonly model: string
  /** Of the provider's answer; undefined where none came. */
  readonly status: number | undefined
  /** Why it failed; undefined where it did not. */
  readonly error: string | undefined
}

/** A trace as other plugins read it. Money is in whole nano-dollars, and what ends in `_us` in microseconds. */
export interface TraceSummary {
  readonly id: string
  /** The id that the client sent. */
  readonly request_id: string | undefined
  readonly parent_id: string | undefined
  /** When the call began, in milliseconds since the epoch. */
  readonly at: number
  readonly source: string
  readonly operation: string
  readonly wire: string
  readonly session_id: string | undefined
  readonly user_id: string | undefined
  /** Another user whose words it has, as it repeats a call of that one. */
  readonly source_user_id?: string
  /** Absent where users belong to no tenant. */
  readonly tenant?: string | undefined
  readonly key_id: string
  readonly project: string
  readonly tags: Readonly<Record<string, string>>
  readonly model_requested: string
  /** The model that the call was last sent on for. */
  readonly model: string
  readonly provider: string | undefined
  readonly status: string
  readonly status_code: number | undefined
  readonly error: TraceError | undefined
  readonly stream: boolean
  readonly latency_us: number
  /** Until the first content of the answer. */
  readonly ttft_us: number | undefined
  /** Of the latency: waiting for providers. */
  readonly upstream_us: number
  readonly finish_reason: string | undefined
  readonly attempts: readonly TracedAttempt[]
  readonly usage: Usage
  /** Absent when nothing was used, and when no price is known; of several attempts the sum of those whose price is known. */
  readonly cost:
    | {
        readonly total_nano: number
        /** Attempts that used tokens and whose price is not known: the call cost more. Absent when there are none. */
        readonly unpriced?: number
      }
    | undefined
  /** Whether all of it went with keys of its user. */
  readonly own_key?: true
  /** The findings of guards; absent when there are none. */
  readonly findings?: readonly TraceFinding[]
  /** The address of the client, kept only with findings. */
  readonly source_ip?: string
  /** What modules said of the call, by the name of the fact. */
  readonly facts: Readonly<Record<string, unknown>>
}

export interface TraceError {
  readonly code: string
  readonly message: string
  readonly provider_status: number | undefined
  readonly retryable: boolean
}

/** Both sides of a call as they were stored, after all redaction. */
export interface TraceBodies {
  readonly request?: unknown
  readonly response?: unknown
  /** Sides of which only the beginning was stored, as a text in `text`. */
  readonly truncated?: readonly ('request' | 'response')[]
  /** There were some, and they cannot be opened: their owner's data was erased, or the encryption key is another one. */
  readonly erased?: true
}

/** Which traces are read; all conditions must hold. Times are milliseconds since the epoch, `to` is exclusive. */
export interface TraceQuery {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly source?: string | undefined
  readonly user_id?: string | undefined
  readonly project?: string | undefined
  readonly session_id?: string | undefined
}

/** Reads the traces of all users; whoever shows them must check whose they are. */
export interface TraceReader {
  /** Traces of calls that began before this (ms since the epoch) were deleted; undefined while none were since the start. */
  readonly deletedBefore: number | undefined
  get(id: string): Promise<TraceSummary | undefined>
  /** Undefined when none were stored, or not any more. */
  bodies(id: string): Promise<TraceBodies | undefined>
  /** Newest first, read a block at a time: stop early with `break`. */
  scan(query: TraceQuery): AsyncIterable<TraceSummary>
  /**
   * The next traces in the order in which they were written, those of all threads included, and the place behind them: who
   * keeps that with what it makes of them meets each trace once. Calls that began before `from` are left out.
   */
  follow(place: TracePlace, limit: number): Promise<{ traces: TraceSummary[]; after: string | undefined }>
}

/** Where a follower of traces is. */
export interface TracePlace {
  /** Undefined at the beginning. */
  readonly after?: string | undefined
  /** Milliseconds since the epoch. */
  readonly from: number
  /** Whether traces without findings are passed over; the others are found by an index. */
  readonly withFindings?: boolean
}

export const TraceReader = guardedToken<TraceReader>('traces')

/**
 * Emitted for every call when its trace is made, in the thread of the call, whether or not the trace reaches the disk: what
 * listeners add up equals what they would read. Traces that clients reported are none of these.
 */
export const CallTraced = defineEvent('call.traced', z.custom<{ readonly trace: TraceSummary }>(), {
  description: 'The trace of a call was made.',
})

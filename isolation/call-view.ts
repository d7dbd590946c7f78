import type { Attempt } from '../kernel/call/attempt.ts'
import type { Call, CallContext, Timeouts } from '../kernel/call/call.ts'
import type { Outcome } from '../kernel/call/outcome.ts'
import type { Trace } from '../kernel/call/trace.ts'
import type { Completion, ModelRequest } from '../kit/canonical/forms.ts'
import type { Thrown } from '../workers/thrown.ts'

type Plain = 'id' | 'operation' | 'wire' | 'principal' | 'context' | 'timeouts' | 'origin'

/** A call as it crosses. */
export interface CallView extends Pick<Call, Plain> {
  /** Left out when it is the one that crossed last. */
  readonly request: ModelRequest | undefined
  /** Which of the call's cancels is this copy's; 0 is that of the call itself. */
  readonly cancel: number
  /** The provider that the model's name says outright. */
  readonly provider: string | undefined
  readonly trace: TraceView
}

/** The changes of a hook to a call. */
export interface CallChange {
  /** Fields of the request; undefined removes one. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly context?: CallContext
  readonly timeouts?: Timeouts
  readonly cancel?: number
}

/** An error of a call as it crosses, with the number by which both sides know it. */
export interface CallThrown extends Thrown {
  readonly number: number
}

export type OutcomeView = Omit<Outcome, 'body' | 'json' | 'error'> & {
  readonly body: Completion | undefined
  readonly error: CallThrown | undefined
}

/** A try at a provider as it crosses: what its functions answer by then, and a number that stands for its identity. */
export type AttemptView = Omit<Attempt, 'identity' | 'error' | 'usage' | 'counted' | 'costUsd' | 'came'> & {
  readonly number: number
  readonly error: CallThrown | undefined
  readonly usage: ReturnType<NonNullable<Attempt['usage']>>
  readonly costUsd: number | undefined
}

/** A call's trace, as far as the module in the worker gets to see it. */
export interface TraceView extends Pick<Trace, 'startedAt' | 'started' | 'firstContentAt' | 'cached'> {
  readonly attempts: readonly AttemptView[]
  /** The number of the attempt that answered. */
  readonly served: number | undefined
}

/** What a module in a worker has set in a call's trace. */
export interface TraceMarks extends Pick<Trace, 'facts' | 'cached'> {
  /** Why another attempt followed, by the number of the one before. */
  readonly reasons: readonly (readonly [attempt: number, reason: string])[]
  readonly body: Completion | undefined
}

/** The methods by which a module adds to a trace: the gateway runs them as well. */
export const additions = ['addNote', 'finding', 'decide', 'changeParam', 'header'] as const

/** One use of such a method. */
export interface Addition {
  readonly add: (typeof additions)[number]
  readonly given: readonly unknown[]
}

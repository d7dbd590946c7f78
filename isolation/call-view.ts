import type { Call, CallContext, Timeouts } from '../kernel/call/call.ts'
import type { Completion, ModelRequest } from '../kernel/call/canonical.ts'
import type { Outcome } from '../kernel/call/outcome.ts'
import { isGatewayError } from '../kernel/errors.ts'
import type { GuestCall } from './guest-calls.ts'
import type { CallThrown } from './protocol.ts'
import type { RemoteCall } from './remote-calls.ts'
import type { TraceView } from './trace-sync.ts'

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

export type OutcomeView = Omit<Outcome, 'body' | 'json' | 'error'> & {
  readonly body: Completion | undefined
  readonly error: CallThrown | undefined
}

/** Without `reads`, no text crosses. */
export function viewOfOutcome(outcome: Outcome, known: RemoteCall, reads: boolean): OutcomeView {
  const { error, body, json: _, ...rest } = outcome
  return { ...rest, body: reads ? body() : undefined, error: error && known.thrownOf(error) }
}

export function outcomeOf({ body, error, ...rest }: OutcomeView, known: GuestCall): Outcome {
  const thrown = error && known.errorOf(error)
  return {
    ...rest,
    error: isGatewayError(thrown) ? thrown : undefined,
    body: () => body,
    json: () => body && JSON.stringify(body),
  }
}

import type { Chunk } from '../../kit/canonical/chunk.ts'
import type { Completion, ModelRequest } from '../../kit/canonical/forms.ts'
import type { Call, Principal } from '../call/call.ts'
import type { Outcome } from '../call/outcome.ts'
import type { Reply } from '../call/reply.ts'
import { guardedToken } from '../token.ts'

/** Options of a call that a plugin makes for itself. */
export interface CompleteOptions {
  /** The highest cost that this call is expected to have: so much must be left of the day's budget. */
  readonly budgetUsd?: number
  /** The call on whose behalf it is made: it ends with that one, and is traced as its child. */
  readonly on?: Call
  /** In place of `on`, a call that it follows: its child and bound as it is, but not ended with it. Not for modules in a worker. */
  readonly after?: Call
  /**
   * With whose keys and on whose account: the gateway's, out of the plugin's budget, or those of the caller of that call. The
   * gateway's without it.
   */
  readonly as?: 'gateway' | 'caller'
  readonly signal?: AbortSignal
}

/** The features of the gateway that make calls; clients' own calls are `proxy`. */
export const callSources = [
  'replay',
  'playground',
  'workflow',
  'batch',
  'redteam',
  'calibration',
  'plugin',
] as const

export type CallSource = (typeof callSources)[number]

/** A key that a call brings with it. It is used for this call only, and no trace, log or plugin has it. */
export interface CallCredential {
  /** The one provider that the call may go to then. */
  readonly provider: string
  readonly key: string
}

/** Options of a call that a plugin makes in the name of a caller. */
export interface CallOptions {
  /**
   * The caller whose keys, scope, limits and bill it uses. From a route, or kept from one; the caller's key must still work
   * when the call is made.
   */
  readonly as: Principal
  /** `plugin` without it. Figures of users and of the gateway leave such calls out unless asked for them. */
  readonly source?: CallSource
  /** The address of the caller, for modules that use it. */
  readonly ip?: string
  readonly project?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly session?: string
  /** Headers that a client would send, for modules that read them; their names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** The id of the trace that it belongs to. */
  readonly parent?: string
  /** The user whose words it repeats, which is the caller or another one: its trace is data of that user, too. */
  readonly sourceUser?: string
  readonly credential?: CallCredential
  /** Ids of modules that it passes by, such as a cache; never those that guard, which `skip` in docs/plugins/contract.md defines. */
  readonly skip?: readonly string[]
  /** Nothing is sent that could cost more. A model without a price is not asked then. */
  readonly maxCostUsd?: number
  /** Ends the call, and the provider's work with it. */
  readonly signal?: AbortSignal
}

/** A call that is under way. */
export interface MadeCall {
  /** Of its trace. */
  readonly id: string
  /**
   * The whole answer, or, where the request asks for a stream, a stream whose first content is there. Rejects with the error
   * that a client would get. A stream must be read to its end or left, as `for await` does.
   */
  readonly reply: Promise<Reply>
  /** How it ended; never rejects. Undefined when it was refused before it began, or could not be settled. */
  readonly outcome: Promise<Outcome | undefined>
}

type Complete<R> = (
  plugin: string,
  usdPerDay: number,
  request: ModelRequest,
  options: CompleteOptions,
  signal: AbortSignal,
) => Promise<R>

/** Makes the model calls of plugins, for themselves and in the name of others. The contexts of plugins check permissions before it. */
export interface ModelCalls {
  /**
   * Resolves with the whole answer. Rejects with an error without a code when the budget does not allow it or the model
   * does not answer, so that what follows is the module's failure policy and not a refusal of the client.
   */
  complete: Complete<Completion>
  /** The same, streamed. */
  completeStreamed: Complete<AsyncIterable<readonly Chunk[]>>
  /** A call as from outside; `signal` ends it like its client. */
  call(plugin: string, request: ModelRequest, options: CallOptions, signal: AbortSignal): MadeCall
}

export const ModelCalls = guardedToken<ModelCalls>('model-calls')

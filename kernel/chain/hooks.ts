import type { Completion } from '../../kit/canonical/forms.ts'
import type { GatewayError } from '../../kit/errors.ts'
import type { Awaitable } from '../../kit/work/continue-with.ts'
import type { Attempt } from '../call/attempt.ts'
import type { Call, Principal } from '../call/call.ts'
import type { Outcome } from '../call/outcome.ts'
import type { Reply } from '../call/reply.ts'
import type { Candidate } from '../contract/routing.ts'
import type { Detection } from '../detect/detect.ts'
import type { Filter } from '../stream/filter.ts'

/** The stages of the chain, outermost first: a request runs down the list, an answer back up. */
export const stages = [
  'record',
  'access',
  'limits',
  'inspect',
  'shape',
  'cache',
  'verify',
  'route',
  'deliver',
] as const

export type Stage = (typeof stages)[number]

/** The rest of the chain, down to the provider. May be called never, once or many times. */
export type Next = (call: Call) => Promise<Reply>

/** A request at the gateway's door, whatever it is for. */
export interface Visit {
  /** The client's address; a proxy's word counts only for configured proxies. */
  readonly ip: string
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** Whether it calls a model; else it is for a route, such as of management. */
  readonly isCall: boolean
  /** Absent while the key has not been looked at, and for public routes called without one. */
  readonly principal: Principal | undefined
}

/**
 * The last look at what leaves for a client over HTTP, on every wire: after everything else, `reveal` included. Caches,
 * traces, other modules and calls of plugins keep the form without it. None of it may wait.
 */
export interface Show {
  /** Return another body, or nothing to leave it as it is. With it comes `stream`. */
  body?(body: Completion, call: Call): Completion | undefined
  /** A filter over the chunks of a streamed answer; its `end` may add some. */
  stream?(call: Call): Filter | undefined
  /** Every error, also one at the door, when there is no call yet. Return it, or another one. */
  error?(error: GatewayError, call: Call | undefined): GatewayError
  /** Change, add or delete headers of an answer or an error, by their names in lower case. */
  headers?(headers: Record<string, string | number>, call: Call | undefined): void
}

export interface Steps {
  /**
   * Whether the module has nothing to do for any call now, as where it keeps rules and there are none: calls pass it by then, and
   * cost nothing. It answers at once, as it is asked often. A call that met it before has it to its end; one that began while it was
   * idle may meet its later hooks.
   */
  idle?(): boolean
  /**
   * Every request over HTTP, for a model or for management, before its key is looked at; where no chain follows,
   * again once the caller is known. Refuse by throwing. A module with a `when` is not asked: a `when` speaks of
   * calls, and this is none yet.
   */
  admit?(visit: Visit): void
  /** Inspect, change (return a copy), refuse (throw a coded error) or answer (return a reply). */
  request?(call: Call): Awaitable<Call | Reply | undefined>
  /**
   * `request` and `detect.request` touch nothing but the call they are given: no counters, no store, no events. Such a
   * module is run to explain a call that is not made; of others an explanation only says that they would run.
   */
  readonly pure?: boolean
  /**
   * Wrap everything inside. When `next` rejects, nothing of that answer has reached the client; when it resolves
   * with a stream, the first content is there and the stream can no longer be exchanged.
   */
  around?(call: Call, next: Next): Promise<Reply>
  /**
   * Whether `around` has anything to do with a call; it is not run for others. All of them without it. With `failures` it is run
   * once what is inside has failed, and its first `next` for the same call is given that failure.
   */
  wraps?(call: Call): boolean | 'failures'
  /**
   * The values that the answer depends on beside the request, such as a header, an arm of an experiment or the time: calls with
   * different values share no cached answer. The chain may ask for a call that is then answered from a cache, and before later
   * changes to the request. The hook answers at once, changes nothing, and returns undefined for no value.
   */
  varies?(call: Call): string | undefined
  /**
   * The models that it sends calls on to in place of what they ask for, each with the name in its settings that says so: their
   * providers are not taken away meanwhile. It answers at once.
   */
  leadsTo?(): readonly { readonly from: string; readonly model: string }[]
  /** Texts of requests and answers to mask, redact or block: the kernel finds the places, whole or streamed. */
  detect?: { readonly request?: Detection; readonly reply?: Detection }
  /**
   * Whether a call may go to a place: a reason why not, for people, or nothing. The call goes elsewhere then, and is refused with
   * all reasons when there is no other place.
   */
  eligible?(target: Candidate, call: Call): string | undefined
  /**
   * How much a place is preferred for a call, in a unit of the module's own; 0 is no preference. The sum over all modules
   * counts.
   */
  prefers?(target: Candidate, call: Call): number
  /**
   * Each try at a provider, after target and key are chosen and before anything is sent: refuse by throwing, or add
   * to `headers`. It may wait, such as for its turn; the try begins after that.
   */
  attempt?(attempt: Attempt, call: Call, headers: Record<string, string>): Awaitable<void>
  /**
   * How a try went. Reported at its error, its whole answer or the first content of its stream, and once more with an error
   * where a stream breaks off later.
   */
  attempted?(attempt: Attempt, call: Call): void
  /**
   * A try is over: its answer or its stream has ended, it failed, or a module refused it. Once for each, so that what `attempt`
   * took can be given back; of an answer that is left unread only `settled` tells.
   */
  attemptEnded?(attempt: Attempt, call: Call): void
  /**
   * Makes the form that the client alone gets to see, after everything else: caches, records and other modules keep the form
   * without it.
   */
  reveal?: Detection
  show?: Show
  /** Learn how the call ended: once, after the last byte, the failure or the departure. Never delays anybody. */
  settled?(outcome: Outcome, call: Call): Awaitable<void>
}

/** Makes the filter for a streamed answer; none to leave the stream as it is. */
export type StreamHook = (call: Call) => Filter | undefined

/** A module that rewrites answers must handle streams, so that no answer gets past it. */
export type Rewrites =
  | { reply?: never; stream?: (call: Call) => Filter | undefined }
  | {
      /** Return another body, or nothing to leave it as it is. */
      reply(body: Completion, call: Call): Awaitable<Completion | undefined>
      /** A filter over the chunks, or `buffer` to hold the stream until `reply` has seen the whole of it. */
      stream: 'buffer' | ((call: Call) => Filter | undefined)
    }

export type Hooks = Steps & Rewrites

/** The names of a module's hooks. */
export const hooksOf = (hooks: object): string[] =>
  Object.entries(hooks).flatMap(([name, hook]) =>
    hook === undefined || typeof hook === 'boolean' ? [] : [name],
  )

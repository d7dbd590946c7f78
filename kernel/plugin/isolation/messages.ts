import type { CallContext, Principal, Timeouts } from '../../call/call.ts'
import type { Completion, CompletionChunk, ModelRequest, Operation } from '../../call/canonical.ts'
import type { Outcome } from '../../call/outcome.ts'
import type { Stage, Visit } from '../../chain/hooks.ts'
import type { StagedFolder } from '../staging/imports.ts'
import type { ChunkView } from './chunk-view.ts'
import type { Thrown } from './thrown.ts'
import type { TrailPart } from './trail-part.ts'
import type { AttemptView, TrailView } from './trail-view.ts'

/** What a worker is started with. */
export interface GuestData {
  readonly entry: string
  /** Where the entry and its packages are, for code that is imported from a copy. */
  readonly staged: StagedFolder | undefined
  readonly id: string
  readonly stage: Stage
  readonly failure: 'open' | 'closed'
  readonly permissions: readonly string[]
  /** The settings as the operator gave them; absent when the worker only tells what its plugin takes. */
  readonly config: Readonly<Record<string, unknown>> | undefined
  readonly memory: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, string>>
  readonly egressAllow: readonly string[]
}

/** What a module does to calls. */
export interface Shape {
  readonly admits: boolean
  readonly requests: boolean
  readonly pure: boolean
  /** Whether it looks for something in requests: what it would have hidden cannot be recorded without asking it. */
  readonly detects: boolean
  readonly arounds: boolean
  readonly attempt: boolean
  readonly attempted: boolean
  readonly replies: boolean
  readonly streams: boolean
  readonly reveals: boolean
  readonly settles: boolean
}

/** A call as it crosses. */
export interface CallView {
  readonly id: string
  readonly operation: Operation
  readonly wire: string
  readonly principal: Principal
  readonly context: CallContext
  readonly timeouts: Timeouts
  /** Left out when it is the one that crossed last. */
  readonly request: ModelRequest | undefined
  /** Which of the call's cancels is this copy's; 0 is that of the call itself. */
  readonly cancel: number
  readonly trail: TrailView | undefined
}

/** What a hook did to a call. */
export interface CallChange {
  /** Fields of the request; undefined removes one. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly context?: CallContext
  readonly timeouts?: Timeouts
  readonly cancel?: number
}

export type OutcomeView = Omit<Outcome, 'body' | 'json' | 'error'> & {
  readonly body: Completion | undefined
  readonly error: Thrown | undefined
}

/** What the module in a worker is to do. */
export type Job =
  | { readonly do: 'admit'; readonly visit: Visit }
  | { readonly do: 'request'; readonly call: CallView }
  | {
      readonly do: 'attempt'
      readonly call: CallView
      readonly attempt: AttemptView
      readonly headers: Readonly<Record<string, string>>
    }
  | { readonly do: 'attempted'; readonly call: CallView; readonly attempt: AttemptView }
  | { readonly do: 'reply' | 'reveal'; readonly call: CallView; readonly body: Completion }
  | {
      readonly do: 'stream'
      readonly call: CallView
      readonly pipe: number
      /** Whether it is to reveal, which comes after everything else. */
      readonly reveals: boolean
      readonly chunks: readonly ChunkView[]
      readonly end: boolean
    }
  /** Nobody wants the rest of a stream. */
  | { readonly do: 'drop'; readonly call: CallView; readonly pipe: number }
  | { readonly do: 'settled'; readonly call: CallView; readonly outcome: OutcomeView }
  /** Tell what is to be remembered. */
  | { readonly do: 'remember' }
  /** Give everything back, and tell what is to be remembered. */
  | { readonly do: 'leave' }

/** What came of a hook that is asked for requests. */
export type Step = { readonly change: CallChange } | { readonly body: Completion } | undefined

/** What may leave of a stream: chunks that came, by their number, and others. */
export interface Passed {
  readonly chunks: readonly (number | CompletionChunk)[]
  /** Nothing more is wanted: the module has no business with this answer, or has ended it. */
  readonly over?: 'untouched' | 'ended'
  readonly thrown?: Thrown
}

/** A failure that the module's policy let pass. */
export interface Fault {
  readonly hook: string
  readonly thrown: Thrown
}

/** What the module in a worker needs from the gateway. */
export type Ask = {
  readonly ask: 'complete'
  readonly request: ModelRequest
  readonly on: string | undefined
  readonly budgetUsd: number | undefined
}

/** One of a call's cancels was used. */
interface Abort {
  readonly kind: 'abort'
  readonly call: string
  readonly cancel: number
  readonly reason: Thrown
}

export type ToGuest =
  | { readonly kind: 'job'; readonly id: number; readonly job: Job }
  | { readonly kind: 'answer'; readonly id: number; readonly value?: unknown; readonly thrown?: Thrown }
  | Abort
  /** The call is forgotten. */
  | { readonly kind: 'over'; readonly call: string }
  | { readonly kind: 'ping' }

export type ToHost =
  | { readonly kind: 'ready'; readonly shape: Shape }
  | { readonly kind: 'described'; readonly schema: Record<string, unknown> | undefined }
  | { readonly kind: 'refused'; readonly message: string; readonly param: string | undefined }
  | {
      readonly kind: 'done'
      readonly id: number
      readonly value?: unknown
      readonly thrown?: Thrown
      /** With `thrown`: the module refused, it did not fail. */
      readonly refused?: boolean
      readonly trail?: TrailPart
      readonly faults: readonly Fault[]
    }
  | { readonly kind: 'pong' }
  | Abort
  | { readonly kind: 'report'; readonly what: string; readonly detail: string }
  | {
      readonly kind: 'log'
      readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
      readonly facts: unknown
      readonly message: string
    }
  | { readonly kind: 'ask'; readonly id: number; readonly ask: Ask }
  /** What was asked is not wanted any more. */
  | { readonly kind: 'withdraw'; readonly id: number }

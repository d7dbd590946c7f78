import type { CallContext, Principal, Timeouts } from '../../call/call.ts'
import type { Completion, CompletionChunk, ModelRequest, Operation } from '../../call/canonical.ts'
import type { Outcome } from '../../call/outcome.ts'
import type { Decision, Note } from '../../call/trail.ts'
import type { Stage, Visit } from '../../chain/hooks.ts'
import type { ErrorCode, ErrorDetail } from '../../errors.ts'
import type { StagedFolder } from '../staging/imports.ts'

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

/** What a module does to calls, as far as that can cross. */
export interface Shape {
  readonly admits: boolean
  readonly requests: boolean
  /** Whether it looks for something in requests: what it would have hidden cannot be recorded without asking it. */
  readonly detects: boolean
  readonly replies: boolean
  readonly streams: boolean
  readonly settles: boolean
}

/** A call as it crosses. The request is left out when it is the one that crossed last. */
export interface CallView {
  readonly id: string
  readonly operation: Operation
  readonly wire: string
  readonly principal: Principal
  readonly context: CallContext
  readonly timeouts: Timeouts
  readonly request: ModelRequest | undefined
}

/** What a hook did to a call. */
export interface CallChange {
  /** Fields of the request; undefined removes one. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly context?: CallContext
  readonly timeouts?: Timeouts
}

export type OutcomeView = Omit<Outcome, 'body' | 'json' | 'error'> & {
  readonly body: Completion | undefined
  readonly error: Thrown | undefined
}

export type Job =
  | { readonly do: 'admit'; readonly visit: Visit }
  | { readonly do: 'request'; readonly call: CallView }
  | { readonly do: 'reply'; readonly call: CallView; readonly body: Completion }
  | {
      readonly do: 'stream'
      readonly call: CallView
      readonly pipe: number
      readonly chunks: readonly CompletionChunk[]
      readonly end: boolean
    }
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

/** An error as it crosses. */
export interface Thrown {
  readonly coded?: { readonly code: ErrorCode; readonly detail: Omit<ErrorDetail, 'cause'> }
  readonly message: string
  /** Whether the message is the kernel's own, which may be shown. */
  readonly fault: boolean
  readonly name: string
}

/** What a module added to a call's trail. */
export interface TrailPart {
  readonly notes: readonly Note[]
  readonly decisions: readonly Decision[]
  readonly paramsChanged: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly facts: Readonly<Record<string, unknown>>
}

/** A failure that the module's policy let pass. */
export interface Fault {
  readonly hook: string
  readonly thrown: Thrown
}

export type ToGuest =
  | { readonly kind: 'job'; readonly id: number; readonly job: Job }
  | { readonly kind: 'drop'; readonly pipe: number }
  | { readonly kind: 'over'; readonly call: string }
  | { readonly kind: 'ping' }
  | { readonly kind: 'answer'; readonly id: number; readonly value?: Completion; readonly thrown?: Thrown }

export type ToHost =
  | { readonly kind: 'ready'; readonly shape: Shape }
  | { readonly kind: 'described'; readonly schema: Record<string, unknown> | undefined }
  | { readonly kind: 'refused'; readonly message: string; readonly param: string | undefined }
  | {
      readonly kind: 'done'
      readonly id: number
      readonly value?: unknown
      readonly thrown?: Thrown
      readonly trail?: TrailPart
      readonly faults: readonly Fault[]
    }
  | { readonly kind: 'pong' }
  | { readonly kind: 'report'; readonly what: string; readonly detail: string }
  | {
      readonly kind: 'log'
      readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
      readonly facts: unknown
      readonly message: string
    }
  | {
      readonly kind: 'complete'
      readonly id: number
      readonly request: ModelRequest
      readonly on: string | undefined
      readonly budgetUsd: number | undefined
    }

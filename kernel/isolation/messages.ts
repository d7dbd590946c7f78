import type { PartAsk, StoreNews } from '../../storage/shared/messages.ts'
import type { Completion, CompletionChunk, ModelRequest } from '../call/canonical.ts'
import type { Stage, Visit } from '../chain/hooks.ts'
import type { StagedFolder } from '../plugin/staging/imports.ts'
import type { CallChange, CallView, OutcomeView } from './call-view.ts'
import type { ChunkBatch } from './chunk-view.ts'
import type { Thrown } from './thrown.ts'
import type { TracePart } from './trace-part.ts'
import type { AttemptView, TraceView } from './trace-view.ts'

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
  /** Whether this thread of the gateway is its first one. */
  readonly isFirst: boolean
  /** Whether it has no other. */
  readonly isOnly: boolean
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
  | { readonly do: 'around'; readonly call: CallView; readonly run: number }
  /** The next batch of a stream that an `around` answered with; or nobody wants the rest of it. */
  | { readonly do: 'pull' | 'release'; readonly of: string; readonly run: number; readonly stream: number }
  | { readonly do: 'reply' | 'reveal'; readonly call: CallView; readonly body: Completion }
  | {
      readonly do: 'stream'
      readonly of: string
      /** With the first batch. */
      readonly call: CallView | undefined
      readonly pipe: number
      /** Whether it is to reveal, which comes after everything else. */
      readonly reveals: boolean
      readonly batch: ChunkBatch
      readonly end: boolean
    }
  /** Nobody wants the rest of a stream. */
  | { readonly do: 'drop'; readonly of: string; readonly pipe: number }
  | { readonly do: 'settled'; readonly call: CallView; readonly outcome: OutcomeView }
  | {
      readonly do: 'event'
      readonly event: EventView
      /** Of an event about one, which is left out of its data then. */
      readonly call?: CallView
      readonly outcome?: OutcomeView
    }
  /** What is new in the store. */
  | { readonly do: 'news'; readonly news: StoreNews }
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

/** What came from inside to an `around`: an answer and its number, the stream of one to be asked for. */
export type Given =
  | { readonly reply: number; readonly body: Completion }
  | { readonly reply: number; readonly wire: string }

/** What an `around` answers: what it was given, or something of its own. */
export type Made =
  | { readonly given: number }
  | { readonly body: Completion }
  | { readonly stream: number; readonly wire: string }

/** A batch of a stream that an `around` answered with: chunks that came, by their number, and others. */
export interface Pulled {
  readonly chunks: readonly (number | CompletionChunk)[]
  readonly isOver: boolean
}

/** An event, of whose kind the schema stays where it is. */
export interface EventView {
  readonly name: string
  readonly alias: string | undefined
  readonly description: string
  readonly data: unknown
}

/** A failure that the module's policy let pass. */
export interface Fault {
  readonly hook: string
  readonly thrown: Thrown
}

/** What the module in a worker needs from the gateway. */
export type Ask =
  | {
      readonly ask: 'complete'
      readonly request: ModelRequest
      readonly on: string | undefined
      readonly budgetUsd: number | undefined
    }
  | { readonly ask: 'store'; readonly store: PartAsk }
  /** What is inside an `around`. */
  | {
      readonly ask: 'next'
      readonly run: number
      readonly change: CallChange
      readonly trace: TracePart | undefined
    }
  /** The next batch of a stream that an `around` was given; or it does not want the rest. */
  | { readonly ask: 'pull' | 'release'; readonly run: number; readonly reply: number }

/** What came of it. */
export interface Answer {
  readonly value?: unknown
  readonly thrown?: Thrown
  /** What happened to the call that it was asked for. */
  readonly news?: TraceView
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
  | ({ readonly kind: 'answer'; readonly id: number } & Answer)
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
      readonly trace?: TracePart
      readonly faults: readonly Fault[]
    }
  | { readonly kind: 'pong' }
  | Abort
  /** It wants to hear events of this name, or all. */
  | { readonly kind: 'listen'; readonly name: string | undefined }
  | { readonly kind: 'emit'; readonly event: EventView }
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

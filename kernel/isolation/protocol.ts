import type { StagedFolder } from '../../staging/imports.ts'
import type { PartAsk, StoreNews } from '../../storage/shared/messages.ts'
import type { Argument, Result } from '../../storage/shared/rpc-port.ts'
import type { Completion, CompletionChunk, ModelRequest } from '../call/canonical.ts'
import type { Entry } from '../chain/entry.ts'
import type { Stage, Visit } from '../chain/hooks.ts'
import type { MeterEvent } from '../chain/meter.ts'
import type { Cause, Facts } from '../events/happening.ts'
import type { EventType } from '../events.ts'
import type { Migrated, OlderSettings } from '../plugin/isolation.ts'
import type { Thrown } from '../workers/thrown.ts'
import type { CallChange, CallView, OutcomeView } from './call-view.ts'
import type { ChunkBatch } from './chunk-transit.ts'
import type { AttemptView, TracePart, TraceView } from './trace-sync.ts'

/** The data that a worker is started with. */
export interface GuestData {
  readonly entry: string
  /** Where the entry and its packages are, for code that is imported from a copy. */
  readonly staged: StagedFolder | undefined
  readonly id: string
  readonly stage: Stage
  readonly failure: 'open' | 'closed'
  readonly finds: Entry['finds']
  readonly permissions: readonly string[]
}

/** The data that a module is set up with. */
export interface SetupData {
  /** The settings as the operator gave them. */
  readonly config: Readonly<Record<string, unknown>>
  readonly mode: 'enforce' | 'shadow'
  readonly memory: Remembered
  readonly secrets: Readonly<Record<string, string>>
  readonly egressAllow: readonly string[]
  /** Whether this thread of the gateway is its first one. */
  readonly isFirst: boolean
  /** Whether it has no other. */
  readonly isOnly: boolean
}

export type Remembered = Readonly<Record<string, unknown>>

/** The hooks that a module has, whichever of its own they come from. */
export interface Shape extends Readonly<Record<HookName, boolean>> {
  /** Whether it looks for something in requests: what it would have hidden cannot be recorded without asking it. */
  readonly detects: boolean
  /** Whether it says what answers vary by, which cannot be asked in time from here. */
  readonly varies: boolean
}

export type HookName =
  | ('admit' | 'request' | 'pure' | 'around' | 'attempt' | 'attempted')
  | ('reply' | 'stream' | 'reveal' | 'settled')

/** An error of a call as it crosses, with the number by which both sides know it. */
export interface CallThrown extends Thrown {
  readonly number?: number
}

/** The result of a question to the module. */
export interface Done<T> {
  readonly value?: T
  readonly thrown?: CallThrown
  /** With `thrown`: the module refused, it did not fail. */
  readonly refused?: boolean
  readonly trace?: TracePart | undefined
  /** Failures that the module's policy let pass. */
  readonly faults: readonly { readonly hook: string; readonly thrown: Thrown }[]
}

type Headers = Readonly<Record<string, string>>

/** A module's hooks for a call, with the data that each gets beside the call. */
export type CallHooks = {
  request(_: object): Step
  /** `varies`: what modules inside of the stage `cache` say of the answer. */
  around(given: { readonly run: number; readonly varies: string | undefined }): Made
  attempt(given: { readonly attempt: AttemptView; readonly headers: Headers }): Headers
  attempted(given: { readonly attempt: AttemptView }): void
  reply(given: { readonly body: Completion }): Completion | undefined
  reveal(given: { readonly body: Completion }): Completion | undefined
  settled(given: { readonly outcome: OutcomeView }): void
  /** Of an event about the call, which is left out of its data. */
  event(given: { readonly event: EventView; readonly outcome?: OutcomeView }): void
}

type CallMethods = {
  [K in keyof CallHooks]: (
    given: Argument<CallHooks[K]> & { readonly call: CallView },
  ) => Done<Result<CallHooks[K]>>
}

/** A run of an `around`, by the id of its call and its number there; and a stream that it was given or answers with. */
export interface AroundRun {
  readonly of: string
  readonly run: number
}
type AroundStream = AroundRun & { readonly stream: number }

/** The next batch of a stream for a filter. */
export interface StreamStep {
  readonly of: string
  readonly pipe: number
  readonly batch: ChunkBatch
  readonly end: boolean
  /** With the first batch; whether it is to reveal, which comes after everything else. */
  readonly begin: { readonly call: CallView; readonly reveals: boolean } | undefined
}

/** The requests and messages of the gateway to a worker. */
export type GuestMethods = CallMethods & {
  /** The settings that its plugin takes, as a JSON Schema. */
  describe(_: undefined): Readonly<Record<string, unknown>> | undefined
  migrate(given: OlderSettings): Migrated | undefined
  setUp(given: SetupData): Shape
  admit(visit: Visit): Done<void>
  stream(step: StreamStep): Done<Passed>
  /** The rest of such a stream is not needed. */
  drop(stream: Pick<StreamStep, 'of' | 'pipe'>): Done<void>
  /** The next batch of a stream that an `around` answered with; or a note that the rest of it is not needed. */
  pull(stream: AroundStream): Done<Passed>
  release(stream: AroundStream): Done<void>
  /** An event about no call. */
  hear(event: EventView): void
  /** The news of the store. */
  news(news: StoreNews): unknown
  /** Tell what is to be remembered; `leave` gives everything back before. */
  remember(_: undefined): Remembered
  leave(_: undefined): Remembered
  abort(abort: Abort): void
  /** The call is forgotten. */
  over(call: string): void
}

/** The requests and messages of a worker to the gateway. */
export type HostMethods = {
  complete(given: {
    readonly request: ModelRequest
    readonly as: 'gateway' | 'caller'
    readonly on?: string
    readonly budgetUsd?: number
  }): Completion
  store(ask: PartAsk): unknown
  /** Runs the part of the chain inside an `around`. */
  next(
    given: AroundRun & { readonly change: CallChange; readonly trace: TracePart | undefined },
  ): Answered<Given>
  /** The next batch of a stream that an `around` was given; or it does not want the rest. */
  pull(stream: AroundStream): Answered<ChunkBatch | undefined>
  release(stream: AroundStream): Answered<void>
  abort(abort: Abort): void
  /** It wants to hear events of this name, or all. */
  listen(name: string | undefined): void
  declare(kind: EventKind): void
  emit(event: EventView): void
  report(event: Pick<MeterEvent, 'kind' | 'detail'>): void
  log(line: LogLine): void
}

/** The result of a question about a call, with the changes of the call in the meantime. */
export interface Answered<T> {
  readonly value?: T
  readonly thrown?: CallThrown
  readonly news?: TraceView | undefined
}

/** The result of a request hook. */
export type Step = { readonly change: CallChange } | { readonly body: Completion } | undefined

/** The chunks of a stream that may leave: chunks that came, by their number, and others. */
export interface Passed {
  readonly chunks: readonly (number | CompletionChunk)[]
  /** Nothing more is wanted: the module has no business with this answer, or has ended it. */
  readonly over?: 'untouched' | 'ended'
  readonly thrown?: Thrown
}

/** The result from inside an `around`: an answer and its number, or the number of a stream. */
export type Given =
  | { readonly reply: number; readonly body: Completion }
  | { readonly reply: number; readonly wire: string }

/** The result of an `around`: the answer that it was given, or one of its own. */
export type Made =
  | { readonly given: number }
  | { readonly body: Completion }
  | { readonly stream: number; readonly wire: string }

/** An event without its schema, which stays where it is; with the facts that are known of it where it was delivered. */
export interface EventView extends Omit<EventType<unknown>, 'schema'> {
  readonly data: unknown
  readonly facts?: Facts | undefined
  readonly cause?: Cause | undefined
}

/** A kind of event that a module emits, with its JSON Schema. */
export interface EventKind extends Omit<EventType<unknown>, 'schema'> {
  readonly schema: Readonly<Record<string, unknown>>
}

/** One of a call's cancels was used. */
export interface Abort {
  readonly call: string
  readonly cancel: number
  readonly reason: CallThrown
}

export interface LogLine {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  readonly facts: Readonly<Record<string, unknown>>
  readonly message: string
}

import type { Visit } from '../kernel/chain/hooks.ts'
import type { MeterEvent } from '../kernel/chain/meter.ts'
import type { ModuleManifest } from '../kernel/discovery/manifest.ts'
import type { SentEvent } from '../kernel/events/happening.ts'
import type { EventType } from '../kernel/events.ts'
import type { Migrated, OlderSettings } from '../kernel/plugin/isolation.ts'
import type { Completion, ModelRequest } from '../kit/canonical/forms.ts'
import type { StagedFolder } from '../staging/imports.ts'
import type { PartAsk, StoreNews } from '../storage/shared/messages.ts'
import type { Argument, Result } from '../storage/shared/rpc-port.ts'
import type { Thrown } from '../workers/thrown.ts'
import type {
  Addition,
  AttemptView,
  CallChange,
  CallThrown,
  CallView,
  OutcomeView,
  TraceMarks,
  TraceView,
} from './call-view.ts'
import type { ChunkBatch, ChunkItems } from './chunk-transit.ts'

/** The data that a worker is started with. */
export interface GuestData {
  readonly entry: string
  /** Where the entry and its packages are, for code that is imported from a copy. */
  readonly staged: StagedFolder | undefined
  /** The module's, or its binding's. */
  readonly id: string
  readonly manifest: ModuleManifest
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

/** What a module does. */
export interface Shape {
  /** The names of its hooks; the hooks of its detections are among them. */
  readonly hooks: readonly string[]
  /** Whether it looks for something in requests: what it would have hidden cannot be recorded without asking it. */
  readonly detects: boolean
}

/** The result of a question about a call, with the state of the call there by then. */
export interface Answered<T, S> {
  readonly value?: T
  readonly thrown?: CallThrown
  readonly state?: S | undefined
}

type Headers = Readonly<Record<string, string>>

/** `reveal`: for the client alone, after everything else. `search`: by its detection of answers alone. */
export type RewriteHook = 'stream' | 'reveal' | 'search'

/** A module's hooks for a call, with the data that each gets beside the call. */
export type CallHooks = {
  request(_: object): Step
  /** `varies`: what modules inside of the stage `cache` say of the answer. */
  around(given: { readonly run: number; readonly varies: string | undefined }): ReplyView
  rewrite(given: { readonly run: number; readonly reply: ReplyView; readonly hook: RewriteHook }): ReplyView
  attempt(given: { readonly attempt: AttemptView; readonly headers: Headers }): Headers
  attempted(given: { readonly attempt: AttemptView }): void
  settled(given: { readonly outcome: OutcomeView }): void
  /** Of an event about the call, which is left out of its data. */
  event(given: { readonly event: SentEvent; readonly outcome?: OutcomeView }): void
}

type CallMethods = {
  [K in keyof CallHooks]: (
    given: Argument<CallHooks[K]> & { readonly call: CallView },
  ) => Answered<Result<CallHooks[K]>, TraceMarks>
}

/** A run of a module over an answer, by the id of its call and its number there. */
export interface Run {
  readonly of: string
  readonly run: number
}

/** A stream that the other side gave in a run: its next batch is wanted, or its rest is not. */
type RunStream = Run & { readonly stream: number; readonly isLeft: boolean }

/** The next batch for a filter, or the end of its stream. */
export interface Fed {
  readonly batch: ChunkBatch | undefined
}

/** The requests and messages of the gateway to a worker. */
export type GuestMethods = CallMethods & {
  /** The settings that its plugin takes, as a JSON Schema. */
  describe(_: undefined): Readonly<Record<string, unknown>> | undefined
  migrate(given: OlderSettings): Migrated | undefined
  setUp(given: SetupData): Shape
  admit(visit: Visit): void
  /** The next batch of a stream that the module makes, undefined at its end; of a filter, of what it is fed. */
  read(stream: RunStream & { readonly fed: Fed | undefined }): Answered<ChunkItems | undefined, TraceMarks>
  /** An event about no call. */
  hear(event: SentEvent): void
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
    given: Run & { readonly change: CallChange; readonly state: TraceMarks },
  ): Answered<ReplyView, TraceView>
  /** The next batch of a stream that it was given, undefined at its end. */
  read(stream: RunStream): Answered<ChunkBatch | undefined, TraceView>
  /** It has added to the trace of a call. */
  add(addition: Addition & { readonly of: string }): void
  /** A hook failed, or refused, and its chain went on. */
  fail(given: { readonly hook: string; readonly thrown: Thrown }): void
  refuse(code: string): void
  abort(abort: Abort): void
  /** It wants to hear events of this name, or all. */
  listen(name: string | undefined): void
  declare(kind: EventKind): void
  emit(event: SentEvent): void
  report(event: Pick<MeterEvent, 'kind' | 'detail'>): void
  log(line: LogLine): void
}

/** The result of a request hook. */
export type Step = { readonly change: CallChange } | { readonly body: Completion } | undefined

/** An answer as it crosses: by its number, with its body or the wire of its stream if it comes from this side. */
export interface ReplyView {
  readonly reply: number
  readonly body?: Completion
  readonly wire?: string
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

interface LogLine {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  readonly facts: Readonly<Record<string, unknown>>
  readonly message: string
}

import type { RequestInit, Response } from 'undici'
import type { Chunk } from '../../kit/canonical/chunk.ts'
import type { Completion, ModelRequest } from '../../kit/canonical/forms.ts'
import type { Awaitable } from '../../kit/work/continue-with.ts'
import type { Store } from '../../storage/index.ts'
import type { Call } from '../call/call.ts'
import type { Wire } from '../call/wire.ts'
import type { BroughtText } from '../chain/brought.ts'
import type { EmitOptions } from '../events/happening.ts'
import type { EventType, Occurrence } from '../events.ts'
import type { Log } from '../log.ts'
import type { Route } from '../route.ts'
import type { Token } from '../token.ts'
import type { CallOptions, CompleteOptions, MadeCall } from './calls.ts'
import type { PersonalData } from './personal-data.ts'
import type { Protocol } from './provider.ts'
import type { Candidate } from './routing.ts'
import type { Actor, Section } from './section.ts'

export interface PostOptions {
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds until it rejects with a TimeoutError unless an answer has begun; for ever by default. */
  readonly timeoutMs?: number
  /** Aborts the request, with its reason. */
  readonly signal?: AbortSignal
}

/** The head of an answer; the names of its headers are in lower case. */
export interface PostAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/**
 * The gateway as a plugin sees it. Everything acquired through it is given back when the instance goes: on disable, after a
 * reconfigure, and when setup fails half way.
 */
export interface Context<S> {
  readonly id: string
  readonly settings: S
  /** In shadow the kernel withholds what hooks do; the module itself withholds what it would do to calls by other ways. */
  readonly mode: 'enforce' | 'shadow'
  /**
   * True where a plugin that is switched off was set up only to be asked about the personal data that it keeps. Its timers and
   * listeners do not run, and services begin no work for it.
   */
  readonly isDormant: boolean
  readonly log: Log
  /** Aborts when the instance goes. */
  readonly signal: AbortSignal
  /** A part of the store that is this plugin's own, with the permission `store`. Make collections in setup. */
  readonly store: Store
  /**
   * A value that survives reconfigure and reload, and a plugin's being off for less than ten minutes. Plain data only:
   * objects of a class would keep old code alive.
   */
  memory<T>(name: string, create: () => T): T
  /** A value for each call, made at first use, the same in all hooks of the call. */
  slot<T>(create: () => T): (call: Call) => T
  /**
   * Runs every so many milliseconds, never twice at a time; failures are logged. With several threads it runs in the first
   * of them only, unless it is about what each thread has in memory.
   */
  every(ms: number, run: () => Awaitable<void>, options?: { readonly inEachThread?: boolean }): void
  /**
   * Gives a function that runs `run` in the first of several threads, soon, with a copy of its argument: plain data. Use it to
   * keep sums for a management route, as those are answered in that thread. With one thread it is `run` itself.
   */
  inFirstThread<T>(name: string, run: (data: T) => void): (data: T) => void
  /**
   * Gives a function that asks the first of several threads for an answer, such as about a count that all threads share: plain
   * data there and back. `from` is the number of the thread that asks, 1 for the first itself. The answer is undefined when the
   * plugin is no longer there, as while it is being switched off. With one thread it is `answer` itself.
   */
  askFirstThread<T, R>(
    name: string,
    answer: (data: T, from: number) => R,
  ): (data: T) => R | Promise<R | undefined>
  /**
   * Gives a function that runs `run` in every thread; resolves when it has run, wherever it can. With one thread it is `run`
   * itself.
   */
  inEachThread(name: string, run: () => Promise<void>): () => Promise<void>
  /** Listeners get events of calls in the thread that has the call, and all others in the first thread, wherever they happen. */
  on<T>(type: EventType<T>, listener: (data: T, occurrence: Occurrence<T>) => unknown): void
  /** Every event. */
  onAny(listener: (data: unknown, occurrence: Occurrence) => unknown): void
  /** Declares, in setup, a type of events that this plugin emits: `GET /api/events/catalogue` lists it. */
  event(type: EventType<unknown>): void
  /**
   * Notifies listeners at once or, with `in`, at least once after a transaction is on disk. Data that does not fit the declared
   * type is logged and not delivered; in development it throws.
   */
  emit<T>(type: EventType<T>, data: T, options?: Omit<EmitOptions, 'by'>): void
  /** Offers a service to others; one plugin at a time may offer it. */
  provide<T>(service: Token<T>, value: T): void
  /** A service of another plugin, or of the kernel with that permission; throws if no plugin offers it. Do not keep it. */
  use<T>(service: Token<T>): T
  find<T>(service: Token<T>): T | undefined
  /**
   * Begins something once this instance answers calls: after setup, when every plugin of the same change stands ready. It is
   * never begun for an instance that came to nothing, or was set up to be asked about personal data only.
   */
  whenLive(begin: () => unknown): void
  /** Takes over something to be released when the instance goes. */
  own(release: () => unknown): void
  /**
   * A request to a host of the permission `network:<host>`, on pooled connections. Addresses that are not public are
   * refused unless the operator allowed them, also after a redirect.
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>
  /**
   * Posts a message where `fetch` may go, and resolves with the head of the answer. Redirects are not followed. It takes a third
   * of the CPU that `fetch` takes.
   */
  post(url: string | URL, options: PostOptions): Promise<PostAnswer>
  /** A secret of the configuration, with the permission `secrets:<NAME>`; throws when the operator has not set it. */
  secret(name: string): string
  /**
   * Asks a model, with the permission `models:<USD a day>`, for a whole answer. Rejects when the budget is used up or the
   * model fails.
   */
  complete(request: ModelRequest, options?: CompleteOptions): Promise<Completion>
  /**
   * Has the guards of a call look at texts that the module brings in, such as retrieved passages: what comes back may be put
   * into the call, in the same order. Rejects with a guard's refusal, which is the call's. With the permission
   * `body:write`. Modules of the stage `inspect` need it only for guards before them.
   */
  inspect(call: Call, texts: readonly BroughtText[]): Promise<readonly string[]>
  /** The same for a streamed answer; resolves when its first content is there. Read it to its end, or leave it. */
  completeStreamed(request: ModelRequest, options?: CompleteOptions): Promise<AsyncIterable<readonly Chunk[]>>
  /**
   * Where a call would go as it stands, best first, with the permission `targets`: what its caller can use, and modules let it.
   * Aliases and other pure modules of the stage `route` behind this one are followed, fallbacks are not. Empty when it can go
   * nowhere.
   */
  targets(call: Call): Promise<readonly Candidate[]>
  /**
   * Makes a call as if the one it is made for had sent it from outside, with the permission `calls`: through all modules, with
   * that one's keys, scope and limits, traced and billed alike.
   */
  call(request: ModelRequest, options: CallOptions): MadeCall
  /**
   * Adds an event to the module's ring, for `GET …/{name}/events`. One of the kind `lacks` says what the module needs and has not;
   * its state then tells it, too, for as long as this instance runs.
   */
  report(kind: string, detail: string): void
  /** Adds a management route. */
  route<P, Q, B, R>(route: Route<P, Q, B, R>): void
  /** Adds a client wire below `/v1`. */
  wire(wire: Wire): void
  /** Adds a provider protocol. */
  protocol(protocol: Protocol): void
  /** Says how to count and erase what the plugin keeps of persons. It is asked also while the plugin is switched off. */
  personal(data: PersonalData): void
  /**
   * Adds a part of the runtime configuration that this plugin keeps. The returned function sets a key, or clears it, as one
   * generation with an entry in the history; it rejects when nothing has changed.
   */
  section<V>(section: Section<V>): (key: string, value: V | undefined, actor?: Actor) => Promise<void>
  /** Looks at the configuration once everything has started; each line it returns is a problem, and refuses the start. */
  verify(check: () => readonly string[]): void
}

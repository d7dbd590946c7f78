import type { Attempt } from '../kernel/call/attempt.ts'
import type { Call } from '../kernel/call/call.ts'
import type { Outcome } from '../kernel/call/outcome.ts'
import { modelName } from '../kit/calls/model-name.ts'
import type { ModelRequest } from '../kit/canonical/forms.ts'
import { over } from '../kit/work/cancel.ts'
import { contain } from '../kit/work/contain.ts'
import { ShortLived } from '../storage/shared/short-lived.ts'
import {
  type Addition,
  type AttemptView,
  additions,
  type CallChange,
  type CallView,
  type OutcomeView,
  type TraceMarks,
  type TraceView,
} from './call-view.ts'
import { CrossingCall } from './crossing-call.ts'
import { Numbered } from './numbered.ts'
import type { Abort } from './protocol.ts'
import type { RemoteModule } from './remote-module.ts'
import type { RemoteRun } from './remote-run.ts'

/** A call that a worker knows, and what of it has crossed. */
export class RemoteCall extends CrossingCall<TraceView, TraceMarks, RemoteRun> {
  readonly call: Call
  /** Hooks and streams that are in the worker. */
  running = 0
  /** Whether nothing more follows: the last hook has run, or the module has none. */
  isSettled: boolean
  readonly #reads: boolean
  /** The request that crossed last. */
  #request: ModelRequest | undefined
  /** By their identities. */
  readonly #attempts = new Numbered<object>('host')

  /** Without `reads`, no texts cross. */
  constructor(call: Call, reads: boolean, isSettled: boolean, tell: (abort: Abort) => void) {
    super(call.id, 'host', call.cancel, tell)
    this.call = call
    this.isSettled = isSettled
    this.#reads = reads
  }

  /** The call, or a copy of it, as it crosses now. */
  view(call: Call): CallView {
    const seen = this.#reads ? call : call.redacted
    const { request, trace: _, cancel: __, ...plain } = seen
    const isSame = this.#request === request
    this.#request = request
    return {
      ...plain,
      request: isSame ? undefined : request,
      cancel: this.numberOf(call.cancel),
      provider: modelName(seen).provider,
      trace: this.state(),
    }
  }

  viewOfOutcome({ error, body, json: _, ...rest }: Outcome): OutcomeView {
    return { ...rest, body: this.#reads ? body() : undefined, error: error && this.thrownOf(error) }
  }

  viewOfAttempt({ identity, error, usage, counted: _, came: __, costUsd, ...plain }: Attempt): AttemptView {
    const number = this.#attempts.numberOf(identity)
    return {
      ...plain,
      number,
      error: error && this.thrownOf(error),
      usage: usage?.(),
      costUsd: costUsd?.(),
    }
  }

  state(): TraceView {
    const { startedAt, started, firstContentAt, cached, served, attempts } = this.call.trace
    return {
      startedAt,
      started,
      firstContentAt,
      cached,
      attempts: attempts.map((attempt) => this.viewOfAttempt(attempt)),
      served: served && this.#attempts.numberOf(served.identity),
    }
  }

  follow({ facts, cached, reasons, body }: TraceMarks): void {
    const { trace } = this.call
    Object.assign(trace.facts, facts)
    if (cached) trace.cached = cached
    for (const [number, reason] of reasons) {
      const attempt = trace.attempts.find(({ identity }) => identity === this.#attempts.get(number))
      if (attempt) attempt.reasonNext = reason
    }
    if (body) trace.body ??= () => body
  }

  /** Adds to the trace as the module has added to its own. */
  add({ add, given }: Addition): void {
    const { trace } = this.call
    if (additions.includes(add)) (trace[add] as (...given: readonly unknown[]) => void)(...given)
  }
}

type Worker = Pick<RemoteModule['worker'], 'notify'>

/** The calls that a worker knows: from the first hook of each until it is over and nothing of it runs there any more. */
export class RemoteCalls {
  readonly #known = new ShortLived<string, RemoteCall>()
  readonly #worker: () => Worker
  readonly #reads: boolean
  /** Whether the module wants to know how calls ended. */
  settles = false
  /** How many there were, without those that were running in a worker when it was lost. */
  passed = 0

  /** Without `reads`, no texts cross. */
  constructor(worker: () => Worker, reads: boolean) {
    this.#worker = worker
    this.#reads = reads
  }

  find(id: string | undefined): RemoteCall | undefined {
    return id === undefined ? undefined : this.#known.get(id)
  }

  /** Something of the call goes on in the worker, until `leave`. */
  enter(call: Call): RemoteCall {
    const known = this.#known.get(call.id) ?? this.#meet(call)
    known.running += 1
    return known
  }

  leave(known: RemoteCall): void {
    known.running -= 1
    if (known.call.cancel.aborted) this.#forget(known)
  }

  /** The call with what the module changed of it. */
  changed(call: Call, { fields, context, timeouts, cancel }: CallChange): Call {
    const known = this.find(call.id)
    const next = call.with({
      ...(context && { context }),
      ...(timeouts && { timeouts }),
      ...(cancel !== undefined && known && { cancel: known.cancelOf(cancel, () => partOf(known)) }),
    })
    return Object.keys(fields).length === 0 ? next : next.withRequest(fields)
  }

  /** The worker is lost, and with it all that it knew. */
  clear(): void {
    const lost = this.#known.takeAll()
    this.passed -= lost.filter(({ running }) => running > 0).length
    for (const known of lost) known.release()
  }

  #meet(call: Call): RemoteCall {
    const known = new RemoteCall(call, this.#reads, !this.settles, (abort) =>
      this.#worker().notify('abort', abort),
    )
    this.#known.set(call.id, known)
    this.passed += 1
    const ended = contain('the end of a call', (reason: Error): void => {
      if (reason === over) known.isSettled = true
      if (!this.#forget(known)) known.tell(0, reason)
    })
    // The worker learns of a call before it learns that the call has ended.
    if (call.cancel.aborted) queueMicrotask(() => ended(call.cancel.reason!))
    else known.own(call.cancel.onAbort(ended))
    return known
  }

  #forget(known: RemoteCall): boolean {
    if (known.running > 0 || !known.isSettled) return false
    if (this.#known.get(known.id) === known) {
      this.#known.take(known.id)
      this.#worker().notify('over', known.id)
      known.release()
    }
    return true
  }
}

/** A part of a call that the module can end alone. */
function partOf(known: RemoteCall) {
  const { cancel, release } = known.call.cancel.child()
  known.own(release)
  return cancel
}

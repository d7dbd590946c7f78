import { ShortLived } from '../../storage/shared/short-lived.ts'
import { Call } from '../call/call.ts'
import { Cancel, over } from '../call/cancel.ts'
import type { ModelRequest } from '../call/canonical.ts'
import { Trace } from '../call/trace.ts'
import type { CallChange, CallView } from './call-view.ts'
import type { GuestAround } from './guest-around.ts'
import type { ToHost } from './messages.ts'
import { Numbered } from './numbered.ts'
import { CrossedErrors, type Thrown } from './thrown.ts'
import { TraceParts } from './trace-part.ts'
import { TraceCopy, type TraceView } from './trace-view.ts'

/** A call that is under way, as its worker knows it. */
export class GuestCall {
  readonly id: string
  readonly trace = new Trace()
  readonly errors = new CrossedErrors('guest')
  readonly copy = new TraceCopy(this.errors)
  readonly parts = new TraceParts(this.trace)
  /** Those of the call's copies; under 0 its own. */
  readonly cancels = new Numbered<Cancel>('guest')
  /** By number. */
  readonly arounds = new Map<number, GuestAround>()
  request: ModelRequest | undefined

  constructor(id: string) {
    this.id = id
  }

  /** Takes over what happened to it. */
  follow(news: TraceView): void {
    this.copy.follow(this.trace, news)
    this.parts.followed()
  }
}

/** The calls that are under way, as their worker knows them. */
export class GuestCalls {
  readonly #known = new ShortLived<string, GuestCall>()
  readonly #tell: (message: ToHost) => void
  /** Whether a cancel is being used because the other side did. */
  #isFollowing = false

  constructor(tell: (message: ToHost) => void) {
    this.#tell = tell
  }

  find(id: string): GuestCall | undefined {
    return this.#known.get(id)
  }

  /** The call of a view; all views of one call share a trace, and with it what modules keep for the call. */
  callOf({ request, trace, cancel, ...view }: CallView): Call {
    const known = this.#known.get(view.id) ?? this.#meet(view.id)
    if (request) known.request = request
    if (trace) known.follow(trace)
    return new Call({
      ...view,
      request: known.request!,
      trace: known.trace,
      cancel: known.cancels.get(cancel) ?? this.#watched(known, cancel),
    })
  }

  /** What is different in a changed call. */
  changeOf(call: Call, changed: Call): CallChange {
    const names = new Set([...Object.keys(call.request), ...Object.keys(changed.request)])
    const fields = [...names].filter((name) => call.request[name] !== changed.request[name])
    return {
      fields: Object.fromEntries(fields.map((name) => [name, changed.request[name]])),
      ...(changed.context !== call.context && { context: changed.context }),
      ...(changed.timeouts !== call.timeouts && { timeouts: changed.timeouts }),
      ...(changed.cancel !== call.cancel && { cancel: this.#numberOf(call.id, changed.cancel) }),
    }
  }

  /** The other side ended a call, or a part of one. */
  abort(id: string, cancel: number, reason: Thrown): void {
    const known = this.#known.get(id)
    if (known) this.#following(() => known.cancels.get(cancel)?.abort(known.errors.errorOf(reason) as Error))
  }

  /** The call is over; ends what runs for it. */
  end(id: string): void {
    const known = this.#known.take(id)
    if (!known) return
    this.#following(() => {
      for (const cancel of known.cancels.values()) cancel.abort(over)
    })
  }

  #meet(id: string): GuestCall {
    const known = new GuestCall(id)
    this.#known.set(id, known)
    this.#watched(known, 0)
    return known
  }

  #watched(known: GuestCall, number: number): Cancel {
    const cancel = new Cancel()
    known.cancels.set(number, cancel)
    this.#watch(known, cancel, number)
    return cancel
  }

  #numberOf(id: string, cancel: Cancel): number {
    const known = this.#known.get(id)
    if (!known || known.cancels.has(cancel)) return known?.cancels.numberOf(cancel) ?? 0
    const number = known.cancels.numberOf(cancel)
    this.#watch(known, cancel, number)
    return number
  }

  #watch({ id, errors }: GuestCall, cancel: Cancel, number: number): void {
    cancel.onAbort((reason) => {
      if (!this.#isFollowing)
        this.#tell({ kind: 'abort', call: id, cancel: number, reason: errors.thrownOf(reason) })
    })
  }

  #following(abort: () => void): void {
    this.#isFollowing = true
    try {
      abort()
    } finally {
      this.#isFollowing = false
    }
  }
}

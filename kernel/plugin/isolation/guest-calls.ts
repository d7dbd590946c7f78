import { Call } from '../../call/call.ts'
import { Cancel, over } from '../../call/cancel.ts'
import type { ModelRequest } from '../../call/canonical.ts'
import { Trail } from '../../call/trail.ts'
import type { CallChange, CallView, ToHost } from './messages.ts'
import { Numbered } from './numbered.ts'
import { CrossedErrors, type Thrown } from './thrown.ts'
import { TrailParts } from './trail-part.ts'
import { TrailCopy, type TrailView } from './trail-view.ts'

/** A call that is under way, as its worker knows it. */
export interface GuestCall {
  readonly id: string
  readonly trail: Trail
  readonly copy: TrailCopy
  readonly parts: TrailParts
  readonly errors: CrossedErrors
  /** Those of the call's copies; under 0 its own. */
  readonly cancels: Numbered<Cancel>
  request: ModelRequest | undefined
}

/** The calls that are under way, as their worker knows them. */
export class GuestCalls {
  readonly #known = new Map<string, GuestCall>()
  readonly #tell: (message: ToHost) => void
  /** Whether a cancel is being used because the other side did. */
  #isFollowing = false

  constructor(tell: (message: ToHost) => void) {
    this.#tell = tell
  }

  find(id: string): GuestCall | undefined {
    return this.#known.get(id)
  }

  /** The call of a view; all views of one call share a trail, and with it what modules keep for the call. */
  callOf({ request, trail, cancel, ...view }: CallView): Call {
    const known = this.#known.get(view.id) ?? this.#meet(view.id)
    if (request) known.request = request
    if (trail) this.follow(known, trail)
    return new Call({
      ...view,
      request: known.request!,
      trail: known.trail,
      cancel: known.cancels.get(cancel) ?? this.#watched(known, cancel),
    })
  }

  /** Takes over what happened to a call. */
  follow({ trail, copy, parts }: GuestCall, news: TrailView): void {
    copy.follow(trail, news)
    parts.followed()
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
    const known = this.#known.get(id)
    this.#known.delete(id)
    if (!known) return
    this.#following(() => {
      for (const cancel of known.cancels.values()) cancel.abort(over)
    })
  }

  #meet(id: string): GuestCall {
    const trail = new Trail()
    const errors = new CrossedErrors('guest')
    const known: GuestCall = {
      id,
      trail,
      copy: new TrailCopy(errors),
      parts: new TrailParts(trail),
      errors,
      cancels: new Numbered('guest'),
      request: undefined,
    }
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

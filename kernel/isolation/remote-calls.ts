import { ShortLived } from '../../storage/shared/short-lived.ts'
import type { Call } from '../call/call.ts'
import { type Cancel, over } from '../call/cancel.ts'
import type { ModelRequest } from '../call/canonical.ts'
import { contain } from '../contain.ts'
import type { CallView } from './call-view.ts'
import type { ToGuest } from './messages.ts'
import { Numbered } from './numbered.ts'
import { CrossedErrors, type Thrown } from './thrown.ts'
import { TraceNews } from './trace-view.ts'

/** A call that a worker knows, and what of it has crossed. */
export interface KnownCall {
  readonly call: Call
  readonly errors: CrossedErrors
  readonly news: TraceNews
  /** Cancels of copies of the call; 0 stands for its own. */
  readonly cancels: Numbered<Cancel>
  /** Takes the listeners off these cancels. */
  readonly releases: (() => void)[]
  request: ModelRequest | undefined
  /** Hooks and streams that are in the worker. */
  running: number
  /** Whether nothing more follows: the last hook has run, or the module has none. */
  isSettled: boolean
}

/** The calls that a worker knows: from the first hook of each until it is over and nothing of it runs there any more. */
export class RemoteCalls {
  readonly #known = new ShortLived<string, KnownCall>()
  readonly #post: (message: ToGuest) => void
  readonly #reads: boolean
  /** Whether the module wants to know how calls ended. */
  settles = false

  /** Without `reads`, no texts cross. */
  constructor(post: (message: ToGuest) => void, reads: boolean) {
    this.#post = post
    this.#reads = reads
  }

  find(id: string | undefined): KnownCall | undefined {
    return id === undefined ? undefined : this.#known.get(id)
  }

  /** Something of the call goes on in the worker, until `leave`. */
  enter(call: Call): KnownCall {
    const known = this.#known.get(call.id) ?? this.#meet(call)
    known.running += 1
    return known
  }

  leave(known: KnownCall): void {
    known.running -= 1
    if (known.call.cancel.aborted) this.#forget(known)
  }

  /** The call as the module may see it. */
  seen(call: Call): Call {
    return this.#reads ? call : call.redacted
  }

  /** The call as it crosses now. */
  view(call: Call, known: KnownCall, isOver = false): CallView {
    const { id, operation, wire, principal, context, timeouts, request } = this.seen(call)
    const isSame = known.request === request
    known.request = request
    return {
      id,
      operation,
      wire,
      principal,
      context,
      timeouts,
      request: isSame ? undefined : request,
      cancel: this.#numberOf(call.cancel, known),
      trace: known.news.of(call.trace, known.errors, isOver),
    }
  }

  /** The module ended a call, or a part of one. */
  abort(id: string, cancel: number, reason: Thrown): void {
    const known = this.#known.get(id)
    if (!known) return
    const ended = cancel === 0 ? known.call.cancel : known.cancels.get(cancel)
    ended?.abort(known.errors.errorOf(reason) as Error)
  }

  /** A part of a call that the module can end alone, under the number that it has there. */
  part(known: KnownCall, cancel: number): Cancel {
    const there = known.cancels.get(cancel)
    if (there) return there
    const part = known.call.cancel.child()
    known.cancels.set(cancel, part.cancel)
    known.releases.push(part.release)
    return part.cancel
  }

  /** The worker is lost, and with it all that it knew. */
  clear(): void {
    for (const known of this.#known.takeAll()) release(known)
  }

  #meet(call: Call): KnownCall {
    const known: KnownCall = {
      call,
      errors: new CrossedErrors('host'),
      news: new TraceNews(),
      cancels: new Numbered('host'),
      releases: [],
      request: undefined,
      running: 0,
      isSettled: !this.settles,
    }
    this.#known.set(call.id, known)
    const ended = contain('the end of a call', (reason: Error): void => {
      if (reason === over) known.isSettled = true
      if (!this.#forget(known)) this.#tell(known, 0, reason)
    })
    // A call that has ended is told of first, and then that it has.
    if (call.cancel.aborted) queueMicrotask(() => ended(call.cancel.reason!))
    else known.releases.push(call.cancel.onAbort(ended))
    return known
  }

  #numberOf(cancel: Cancel, known: KnownCall): number {
    if (cancel === known.call.cancel) return 0
    if (known.cancels.has(cancel)) return known.cancels.numberOf(cancel)
    const number = known.cancels.numberOf(cancel)
    known.releases.push(cancel.onAbort((reason) => this.#tell(known, number, reason)))
    return number
  }

  #tell({ call, errors }: KnownCall, cancel: number, reason: Error): void {
    this.#post({ kind: 'abort', call: call.id, cancel, reason: errors.thrownOf(reason) })
  }

  #forget(known: KnownCall): boolean {
    const { id } = known.call
    if (known.running > 0 || !known.isSettled) return false
    if (this.#known.get(id) === known) {
      this.#known.take(id)
      this.#post({ kind: 'over', call: id })
      release(known)
    }
    return true
  }
}

function release({ releases }: KnownCall): void {
  for (const free of releases.splice(0)) free()
}

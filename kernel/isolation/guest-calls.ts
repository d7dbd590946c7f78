import type { RpcPort } from '../../storage/shared/rpc-port.ts'
import { ShortLived } from '../../storage/shared/short-lived.ts'
import { Call } from '../call/call.ts'
import { Cancel, over } from '../call/cancel.ts'
import type { ModelRequest } from '../call/canonical.ts'
import type { ChainFacts } from '../call/trace.ts'
import type { CallChange, CallView } from './call-view.ts'
import { CrossingCall } from './crossing-call.ts'
import type { GuestAround } from './guest-around.ts'
import type { Abort, GuestMethods, HostMethods } from './protocol.ts'
import { GuestTrace } from './trace-sync.ts'

/** The worker's way to the gateway. */
export type Host = RpcPort<HostMethods, GuestMethods>

/** A call that is under way, as its worker knows it. */
export class GuestCall extends CrossingCall {
  readonly trace = new GuestTrace(this.errors)
  /** By number. */
  readonly arounds = new Map<number, GuestAround>()
  request: ModelRequest | undefined
  /** The provider that the model's name says outright. */
  provider: string | undefined
  /** The values that the answer varies by inside of the stage `cache`; while they are not known, by the call. */
  varies: string | undefined = this.id

  readonly chain: ChainFacts = {
    isProvider: (name) => name === this.provider,
    variesIn: (_, insideOf) => (insideOf === 'cache' ? this.varies : this.id),
  }
}

/** The calls that are under way, as their worker knows them. */
export class GuestCalls {
  readonly #known = new ShortLived<string, GuestCall>()
  readonly #host: () => Host

  constructor(host: () => Host) {
    this.#host = host
  }

  find(id: string): GuestCall | undefined {
    return this.#known.get(id)
  }

  /** The call of a view; all views of one call share a trace, and with it what modules keep for the call. */
  callOf({ request, trace, cancel, provider, ...view }: CallView): Call {
    const known = this.#known.get(view.id) ?? this.#meet(view.id)
    known.provider = provider
    if (request) known.request = request
    known.trace.follow(trace)
    return new Call({
      ...view,
      request: known.request!,
      trace: known.trace,
      cancel: known.cancelOf(cancel, () => known.watch(new Cancel(), cancel)),
    })
  }

  /** The differences of a changed call. */
  changeOf(call: Call, changed: Call): CallChange {
    const names = new Set([...Object.keys(call.request), ...Object.keys(changed.request)])
    const fields = [...names].filter((name) => call.request[name] !== changed.request[name])
    const cancel = changed.cancel === call.cancel ? undefined : this.find(call.id)?.numberOf(changed.cancel)
    return {
      fields: Object.fromEntries(fields.map((name) => [name, changed.request[name]])),
      ...(changed.context !== call.context && { context: changed.context }),
      ...(changed.timeouts !== call.timeouts && { timeouts: changed.timeouts }),
      ...(cancel !== undefined && { cancel }),
    }
  }

  /** The other side ended a call, or a part of one. */
  abort({ call, cancel, reason }: Abort): void {
    this.#known.get(call)?.abort(cancel, reason)
  }

  /** The call is over; ends what runs for it. */
  end(id: string): void {
    this.#known.take(id)?.abortAll(over)
  }

  #meet(id: string): GuestCall {
    const own = new Cancel()
    const known = new GuestCall(id, 'guest', own, (abort) => this.#host().notify('abort', abort))
    known.watch(own, 0)
    known.trace.chain = known.chain
    this.#known.set(id, known)
    return known
  }
}

import { Call } from '../kernel/call/call.ts'
import type { Outcome } from '../kernel/call/outcome.ts'
import { changes } from '../kernel/call/redacted.ts'
import type { ModelRequest } from '../kit/canonical/forms.ts'
import { isGatewayError } from '../kit/errors.ts'
import { Cancel, over } from '../kit/work/cancel.ts'
import type { RpcPort } from '../storage/shared/rpc-port.ts'
import { ShortLived } from '../storage/shared/short-lived.ts'
import type { CallChange, CallView, OutcomeView, TraceMarks, TraceView } from './call-view.ts'
import { CrossingCall } from './crossing-call.ts'
import type { GuestRun } from './guest-run.ts'
import { GuestTrace } from './guest-trace.ts'
import type { GuestMethods, HostMethods } from './protocol.ts'

/** The worker's way to the gateway. */
export type Host = RpcPort<HostMethods, GuestMethods>

/** A call that is under way, as its worker knows it. */
export class GuestCall extends CrossingCall<TraceMarks, TraceView, GuestRun> {
  readonly trace: GuestTrace
  request: ModelRequest | undefined
  /** The provider that the model's name says outright. */
  provider: string | undefined
  /** The values that the answer varies by inside of the stage `cache`; while they are not known, by the call. */
  varies: string | undefined = this.id

  constructor(id: string, own: Cancel, host: Host) {
    super(id, 'guest', own, (abort) => host.notify('abort', abort))
    this.watch(own, 0)
    this.trace = new GuestTrace(this, (addition) => host.notify('add', { of: id, ...addition }))
    this.trace.chain = {
      isProvider: (name) => name === this.provider,
      variesIn: (_, insideOf) => (insideOf === 'cache' ? this.varies : this.id),
    }
  }

  state(isOver: boolean): TraceMarks {
    return this.trace.marks(isOver)
  }

  follow(state: TraceView): void {
    this.trace.follow(state)
  }

  outcomeOf({ body, error, ...rest }: OutcomeView): Outcome {
    const thrown = error && this.errorOf(error)
    return {
      ...rest,
      error: isGatewayError(thrown) ? thrown : undefined,
      body: () => body,
      json: () => body && JSON.stringify(body),
    }
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
    known.follow(trace)
    return new Call({
      ...view,
      request: known.request!,
      trace: known.trace,
      cancel: known.cancelOf(cancel, () => known.watch(new Cancel(), cancel)),
    })
  }

  /** The differences of a changed call. */
  changeOf(call: Call, changed: Call): CallChange {
    const fields = changes(call.request, changed.request)
    const cancel = changed.cancel === call.cancel ? undefined : this.find(call.id)?.numberOf(changed.cancel)
    return {
      fields: Object.fromEntries(fields.map((name) => [name, changed.request[name]])),
      ...(changed.context !== call.context && { context: changed.context }),
      ...(changed.timeouts !== call.timeouts && { timeouts: changed.timeouts }),
      ...(cancel !== undefined && { cancel }),
    }
  }

  /** The call is over; ends what runs for it. */
  end(id: string): void {
    this.#known.take(id)?.release(over)
  }

  #meet(id: string): GuestCall {
    const known = new GuestCall(id, new Cancel(), this.#host())
    this.#known.set(id, known)
    return known
  }
}

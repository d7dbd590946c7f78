import type { IncomingHttpHeaders } from 'node:http'
import type { ModelRequest, Operation } from '../../kit/canonical/forms.ts'
import { deepFreeze } from '../../kit/json/deep-freeze.ts'
import { Cancel } from '../../kit/work/cancel.ts'
import { withoutTexts } from './redacted.ts'
import { Trace } from './trace.ts'

/** The caller. Admin keys have no user. */
export interface Principal {
  readonly type: 'admin' | 'user'
  readonly keyId: string
  readonly userId: string | undefined
  readonly plan: string
  /** The organisation that the user belongs to, where a plugin tells them apart. */
  readonly tenant: string | undefined
}

/** The surroundings of a call besides its body. */
export interface CallContext {
  /** From `X-Project`; `default` without it. */
  readonly project: string
  /** From `X-Service-Tags`. */
  readonly tags: Readonly<Record<string, string>>
  readonly sessionId: string | undefined
  /** The client's address; a proxy's word counts only for configured proxies. */
  readonly ip: string
  /** From `X-Provider`: the one provider this call may go to. */
  readonly provider: string | undefined
  /** The request's headers, for modules that read their own. Never forwarded as a whole. */
  readonly headers: IncomingHttpHeaders
  /** The maker of the call: `proxy`, or a feature of the gateway such as `replay`. */
  readonly source: string
  /** The generation of plugins the call runs on, from first byte to last. */
  readonly generation: number
}

/** Bounds on one attempt, in milliseconds; an absent bound does not bind. */
export interface Timeouts {
  readonly connectMs?: number
  readonly firstByteMs?: number
  /** Longest gap between two chunks. */
  readonly idleMs?: number
}

/** Who makes a call, and in which surroundings. */
export type CallOrigin = Pick<Call, 'principal' | 'context'>

interface CallFields {
  readonly id: string
  readonly operation: Operation
  readonly wire: string
  readonly principal: Principal
  readonly request: ModelRequest
  readonly context: CallContext
  readonly timeouts?: Timeouts
  readonly cancel?: Cancel
  readonly trace?: Trace
  readonly origin?: CallOrigin | undefined
}

/**
 * One request for a model, as the chain sees it. Immutable: a module that changes it passes on a copy made by `with`, so a
 * retry starts clean and an audit sees what was really sent. The trace and the cancel are shared by all copies.
 */
export class Call {
  readonly id: string
  readonly operation: Operation
  /** The client's wire format. */
  readonly wire: string
  readonly principal: Principal
  readonly request: ModelRequest
  readonly context: CallContext
  readonly timeouts: Timeouts
  /** Ends the call early; a hedge or a race gives its attempts children of it. */
  readonly cancel: Cancel
  /** The record of this call so far. */
  readonly trace: Trace
  /**
   * Of the call that a plugin asks a model for with `ctx.complete`, whose own caller may be the plugin. Rules for the data of a
   * caller go by it; undefined for other calls.
   */
  readonly origin: CallOrigin | undefined
  #redacted: Call | undefined
  #readOnly: Call | undefined

  constructor(fields: CallFields) {
    this.id = fields.id
    this.operation = fields.operation
    this.wire = fields.wire
    this.principal = fields.principal
    this.request = fields.request
    this.context = fields.context
    this.timeouts = fields.timeouts ?? none
    this.cancel = fields.cancel ?? new Cancel()
    this.trace = fields.trace ?? new Trace()
    this.origin = fields.origin
  }

  /** A copy with other parts; parts that are not named stay. */
  with(change: Partial<Pick<CallFields, 'request' | 'context' | 'timeouts' | 'cancel'>>): Call {
    const { id, operation, wire, principal, trace, origin } = this
    const { request = this.request, context = this.context } = change
    const { timeouts = this.timeouts, cancel = this.cancel } = change
    return new Call({ id, operation, wire, principal, trace, origin, request, context, timeouts, cancel })
  }

  /** A copy whose request has other fields; `undefined` removes one. */
  withRequest(fields: Readonly<Record<string, unknown>>): Call {
    const request: Record<string, unknown> = { ...this.request, ...fields }
    for (const key in fields) if (fields[key] === undefined) delete request[key]
    return this.with({ request: request as ModelRequest })
  }

  /** The call without its texts, as modules see it that may not read them. */
  get redacted(): Call {
    this.#redacted ??= this.with({ request: withoutTexts(this.request) })
    return this.#redacted
  }

  /**
   * The call as plugins from outside are handed it: nothing of it can be written to, and its trace only added to. Its parts
   * are the call's own, frozen in place.
   */
  get readOnly(): Call {
    if (this.#readOnly) return this.#readOnly
    deepFreeze([this.request, this.principal, this.context, this.timeouts, this.origin])
    const call = new Call({ ...this, trace: this.trace.readOnly })
    Object.freeze(call)
    this.#readOnly = call
    return call
  }

  get stream(): boolean {
    return this.request.stream === true
  }

  /** For APIs that take an AbortSignal; aborts when the client leaves or the call is ended early. */
  get signal(): AbortSignal {
    return this.cancel.signal
  }
}

const none: Timeouts = Object.freeze({})

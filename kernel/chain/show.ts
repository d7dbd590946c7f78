import { GatewayError, isUpstreamError, UpstreamError } from '../../kit/errors.ts'
import { sendableHeaders } from '../../kit/http/header-value.ts'
import { HookFault } from '../../kit/work/hook-fault.ts'
import type { Call } from '../call/call.ts'
import { type Reply, WholeReply } from '../call/reply.ts'
import { applies, type Entry, engages, handleFailure, recordRun, tripped } from './entry.ts'
import type { Show } from './hooks.ts'
import { checkedBody } from './returned.ts'
import { streamThrough } from './rewrite.ts'

/** Headers of an answer, by their names in lower case. */
type AnswerHeaders = Record<string, string | number>

/** Headers that the HTTP of an answer depends on; no module changes them. */
const fixed = ['content-type', 'content-length'] as const

type Shows = Entry & { readonly hooks: { readonly show: Show } }

/** The last look that modules have at what leaves for a client, the outermost last. */
export class ClientView {
  /** Innermost first. */
  readonly #entries: readonly Shows[]

  constructor(entries: readonly Entry[]) {
    this.#entries = entries.filter((entry): entry is Shows => entry.hooks.show !== undefined).toReversed()
  }

  /** An answer as the client gets it. Throws what a module refuses with. */
  reply(reply: Reply, call: Call): Reply {
    if (this.#entries.length === 0) return reply
    const entries = this.#entries.filter((entry) => engages(entry, call))
    if (reply.kind === 'whole') {
      const own = entries.filter(({ hooks }) => hooks.show.body)
      return own.length === 0 ? reply : wholeThrough(reply, own, call)
    }
    const steps = entries.map((entry) => ({ entry, hook: 'show', rewriter: entry.hooks.show }) as const)
    return streamThrough(reply, steps, call)
  }

  /** An error as the client gets it. Never throws: a module that fails and is `closed` hides it behind its own failure. */
  error(error: GatewayError, call: Call | undefined): GatewayError {
    let shown = revealed(error, call)
    for (const entry of this.#entries) {
      const { show } = entry.hooks
      if (!show.error) continue
      try {
        if (!isAsked(entry, call)) continue
        const made: unknown = show.error(shown, call)
        if (!(made instanceof GatewayError)) throw new HookFault('expected an error of the gateway')
        shown = made
      } catch (failure) {
        shown = failed(entry, failure, call) ?? shown
      }
    }
    return shown
  }

  /** Headers as the client gets them; without those that modules may set when a `closed` one fails over them. */
  headers(headers: AnswerHeaders, call: Call | undefined): AnswerHeaders {
    if (this.#entries.length === 0) return headers
    const kept = fixed.flatMap((name) =>
      headers[name] === undefined ? [] : [[name, headers[name]] as const],
    )
    let shown = headers
    for (const entry of this.#entries) {
      const { show } = entry.hooks
      if (!show.headers) continue
      const changed = { ...shown }
      try {
        if (!isAsked(entry, call)) continue
        show.headers(changed, call)
        shown = sendableHeaders(changed)
      } catch (failure) {
        if (failed(entry, failure, call)) shown = {}
      }
    }
    return { ...shown, ...Object.fromEntries(kept) }
  }
}

function wholeThrough(reply: WholeReply, entries: readonly Shows[], call: Call): WholeReply {
  let body = reply.body
  for (const entry of entries) {
    const started = performance.now()
    try {
      body = checkedBody(entry.hooks.show.body!(body, call), body)
    } catch (error) {
      handleFailure(entry, 'show', error, call)
    } finally {
      recordRun(entry, 'show', performance.now() - started, call)
    }
  }
  return body === reply.body ? reply : WholeReply.of(body)
}

/** A provider's error with what the client alone may see of its words; as it is where a module fails over them. */
function revealed(error: GatewayError, call: Call | undefined): GatewayError {
  if (!call || !isUpstreamError(error)) return error
  try {
    const reveal = call.trace.chain?.revealing?.(call)
    return reveal ? new UpstreamError(error.code, reveal(error.message), error) : error
  } catch {
    return error
  }
}

/** A module with a `when` is not asked about a request that is no call yet. */
function isAsked(entry: Entry, call: Call | undefined): boolean {
  const asked = call ? applies(entry, call) : !entry.when && entry.meter.circuit.waitMs === 0
  if (asked || entry.failure === 'open' || entry.meter.circuit.waitMs === 0) return asked
  throw tripped(entry, call)
}

/** The result of a module's failure: nothing, or the error that hides the answer that the module should have seen. */
function failed(entry: Entry, failure: unknown, call: Call | undefined): GatewayError | undefined {
  try {
    handleFailure(entry, 'show', failure, call)
    return undefined
  } catch (error) {
    return error as GatewayError
  }
}

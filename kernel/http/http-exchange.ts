import type { IncomingMessage, ServerResponse } from 'node:http'
import { listOfChanges } from '../../kit/calls/param-changes.ts'
import { retryHeaders } from '../../kit/calls/retry-headers.ts'
import { ClientGone, forbidden, isMistake, isUpstreamError } from '../../kit/errors.ts'
import type { IpRanges } from '../../kit/http/ip-ranges.ts'
import { newId } from '../../kit/id.ts'
import type { Cohort } from '../../kit/work/cohort.ts'
import { tellContained } from '../../kit/work/contain.ts'
import { Call } from '../call/call.ts'
import { Exchange } from '../call/exchange.ts'
import { CallFirstContent, CallStarted, type Outcome } from '../call/outcome.ts'
import type { Reply, StreamReply, WholeReply } from '../call/reply.ts'
import type { SettlementParts } from '../call/settle.ts'
import { Trace } from '../call/trace.ts'
import type { Address, Wire } from '../call/wire.ts'
import type { ClientView } from '../chain/show.ts'
import type { Generation } from '../plugin/generation.ts'
import type { FoundWire } from '../plugin/wire-table.ts'
import { toGatewayError } from '../to-gateway-error.ts'
import { type BodyLimits, parseJson, readBody, withTokens } from './body.ts'
import type { Callers } from './caller.ts'
import { clientAddress } from './client.ts'
import { callContextOf } from './context.ts'
import { endWithAnswer } from './early-answer.ts'
import { StreamedAnswer } from './streamed-answer.ts'

/** The parts that serving proxied calls takes. */
export interface ExchangeParts extends SettlementParts {
  readonly callers: Callers
  readonly cohort: Cohort
  readonly trustedProxies: IpRanges
  readonly bodyLimits: BodyLimits
  readonly adminProxy: boolean
}

/**
 * One proxied request from its headers to its settlement. Runs beside Koa, not in it: a plain call has a tenth of a
 * millisecond, and the framework would take a good part of it.
 */
export class HttpExchange extends Exchange {
  readonly #parts: ExchangeParts
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  readonly #wire: Wire
  readonly #address: Address
  readonly #generation: Generation
  readonly #id = newId('tr_')
  #streamed: StreamedAnswer | undefined

  constructor(
    parts: ExchangeParts,
    req: IncomingMessage,
    res: ServerResponse,
    { wire, params }: FoundWire,
    generation: Generation,
  ) {
    super(generation, parts)
    this.#parts = parts
    this.#req = req
    this.#res = res
    this.#wire = wire
    this.#address = wire.check ? { params, query: queryOf(req) } : { params, query: '' }
    this.#generation = generation
  }

  /** Serves the request; never rejects. The generation is leased until everything has settled. */
  override async run(): Promise<Outcome | undefined> {
    const { cohort } = this.#parts
    cohort.enter()
    try {
      return await super.run()
    } finally {
      cohort.leave()
    }
  }

  protected async accept(): Promise<Call> {
    const { callers, trustedProxies, bodyLimits, adminProxy, cohort } = this.#parts
    const ip = clientAddress(this.#req, trustedProxies)
    const { chain, number, tenants } = this.#generation
    this.#wire.check?.(this.#address)
    const asked = chain.admit({
      ip,
      method: 'POST',
      path: this.#wire.path,
      isCall: true,
      principal: undefined,
    })
    if (asked) await asked
    const found = callers.identify(this.#req, ip, tenants)
    const principal = found instanceof Promise ? await found : found
    if (principal.type === 'admin' && !adminProxy) {
      throw forbidden('Admin keys cannot make model calls here (auth.admin_proxy is false); use a user key.')
    }
    const bounds = this.#wire.operation === 'chat' ? bodyLimits : withTokens(bodyLimits)
    const body = parseJson(await readBody(this.#req, bodyLimits, cohort), bounds)
    const trace = new Trace()
    const decoded = this.#wire.decode(body, { principal, trace }, this.#address)
    const request = decoded instanceof Promise ? await decoded : decoded
    const call = new Call({
      id: this.#id,
      operation: this.#wire.operation,
      wire: this.#wire.id,
      principal,
      request,
      context: callContextOf(this.#req.headers, ip, number),
      trace,
    })
    // A client can leave while its wire looks something up.
    if (this.#res.destroyed) throw new ClientGone()
    this.#res.once('close', () => {
      if (!this.#res.writableFinished) call.cancel.abort(new ClientGone())
    })
    if (principal.type === 'admin') warn(call)
    this.#parts.events.emit(CallStarted, { call }, { cause: call })
    return call
  }

  #view(): ClientView {
    return this.#generation.chain.clientView
  }

  protected answer(reply: Reply, call: Call): void | Promise<void> {
    const shown = this.#view().reply(reply, call)
    if (shown.kind === 'stream') return this.#stream(shown, call)
    this.#whole(shown, call)
  }

  #whole(reply: WholeReply, call: Call): void {
    const bytes =
      reply.raw && reply.wire === this.#wire.id
        ? reply.raw
        : Buffer.from(JSON.stringify(this.#wire.encode(reply.body, call.request, call)))
    this.#head(200, 'application/json', { 'content-length': bytes.length })
    call.trace.firstContentAt = performance.now()
    if (bytes.length > largestCopy) this.#res.end(bytes)
    else this.#res.end(bytes.toString('latin1'), 'latin1')
  }

  async #stream(reply: StreamReply, call: Call): Promise<void> {
    const encoder = this.#wire.encoder(reply.wire, call.request, call)
    const begin = (hasContent: boolean): void => {
      this.#head(200, encoder.contentType ?? 'text/event-stream; charset=utf-8', unbuffered)
      if (!hasContent) return
      call.trace.firstContentAt = performance.now()
      this.#parts.events.emit(CallFirstContent, { call }, { cause: call })
    }
    const answer = new StreamedAnswer(this.#res, encoder, begin, (error) => this.#view().error(error, call))
    this.#streamed = answer
    await answer.send(reply.chunks, call.cancel, this.#id)
  }

  /** Sends the error to the client, or closes the connection if that fails, so that the client does not wait for ever. */
  protected fail(thrown: unknown): void {
    try {
      this.#refuse(thrown)
    } catch (error) {
      tellContained('an error of a call', error)
      this.#res.destroy()
    }
  }

  #refuse(thrown: unknown): void {
    if (this.#res.headersSent || thrown instanceof ClientGone) {
      if (!this.#res.writableEnded) this.#res.destroy()
      return
    }
    const error = toGatewayError(thrown)
    if (isMistake(error) && !isUpstreamError(error)) {
      this.#parts.log.error(
        { err: error.cause ?? error, request_id: this.#id, module: error.module },
        'a call failed',
      )
    }
    const shown = this.#view().error(error, this.call)
    if (!this.#req.complete) endWithAnswer(this.#req, this.#res)
    const bytes = Buffer.from(JSON.stringify(this.#wire.error(shown, this.#id, this.call)))
    const retry = retryHeaders(shown, this.call?.trace.headers)
    this.#head(shown.status, 'application/json', { 'content-length': bytes.length, ...retry })
    this.#res.end(bytes)
  }

  #head(status: number, type: string, about: Readonly<Record<string, string | number>>): void {
    const trace = this.call?.trace
    if (trace?.paramsChanged.length) trace.header('x-params-changed', listOfChanges(trace.paramsChanged))
    const headers: Record<string, string | number> = {
      'content-type': type,
      'x-request-id': this.#id,
      'x-trace-id': this.#id,
      ...trace?.headers,
      ...about,
    }
    if (this.#wire.idHeader !== undefined) headers[this.#wire.idHeader] = this.#id
    this.#res.writeHead(status, this.#view().headers(headers, this.call))
  }

  protected end(failure: unknown) {
    return {
      status: failure instanceof ClientGone && !this.#res.headersSent ? 499 : this.#res.statusCode,
      finishReason: this.#streamed?.finishReason,
      chunks: this.#streamed?.chunks ?? 0,
    }
  }
}

/** Node sends head and body of a string in one write, where a buffer takes two; up to so many bytes the copy is cheaper. */
const largestCopy = 16 * 1024

function queryOf({ url = '' }: IncomingMessage): string {
  const at = url.indexOf('?')
  return at === -1 ? '' : url.slice(at + 1)
}

/** No proxy on the way may hold a stream back. */
const unbuffered = { 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }

function warn(call: Call): void {
  call.trace.header('x-service-warning', 'admin keys are not meant for model calls; use a user key')
}

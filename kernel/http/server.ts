import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { badRequest, draining, type GatewayError } from '../../kit/errors.ts'
import { oneByOne } from '../../kit/http/one-by-one.ts'
import { contain, tellContained } from '../../kit/work/contain.ts'
import type { Generation } from '../plugin/generation.ts'
import { refuse } from './early-answer.ts'
import { type ExchangeParts, HttpExchange } from './http-exchange.ts'
import { createServer } from './node-http.ts'
import { refuseBytes } from './parser-error.ts'

interface ServerParts extends ExchangeParts {
  readonly generation: () => Generation
  /** Answers what is no model call. */
  readonly management: (req: IncomingMessage, res: ServerResponse) => Promise<void>
  /** Milliseconds for a client to send a request. */
  readonly requestTimeout: number
}

/** Milliseconds for the head of a request, and between checks for requests that take too long. */
const [headersMs, lookMs] = [20_000, 30_000]

/** How long calls that were cut off may take to be accounted for, in milliseconds. */
const settleMs = 5_000

/** The one port: model calls to their wires, everything else to the management application. */
export class HttpServer {
  readonly #parts: ServerParts
  readonly #server: Server
  /** Requests that have not ended, by their answers, and the waiters for their end. */
  readonly #running = new Set<ServerResponse>()
  #waiting: (() => void)[] = []
  #phase: 'open' | 'leaving' | 'draining' = 'open'

  constructor(parts: ServerParts) {
    this.#parts = parts
    this.#server = serve(parts.requestTimeout, (req, res) => {
      if (req.headers.host === undefined && req.httpVersionMinor === 1) refuse(res, hostless())
      else this.route(req, res)
    })
  }

  /** Resolves with the address once it accepts connections; a shared port is one that other threads listen on too. */
  async listen(port: number, host: string, isShared = false): Promise<AddressInfo> {
    this.#server.listen({ port, host, backlog: 4096, reusePort: isShared })
    await once(this.#server, 'listening')
    // A connection that could not be taken, such as for want of file descriptors, is not the end of the others.
    const failed = contain('the port', (err: unknown) =>
      this.#parts.log.error({ err }, 'a connection could not be accepted'),
    )
    this.#server.on('error', failed)
    return this.#server.address() as AddressInfo
  }

  /**
   * Answers for `drainDelay` milliseconds more, and closes the connection with each answer, so that a balancer has time to look
   * elsewhere. Then refuses new requests, gives running ones `drain` milliseconds to end, and closes the rest. It listens until
   * then, so that a client on its way here gets an answer that it should come back. Calls that were cut off may settle; a route
   * that never ends does not hold up the end.
   */
  async close({ drain, drainDelay }: { readonly drain: number; readonly drainDelay: number }): Promise<void> {
    this.#phase = 'leaving'
    if (drainDelay > 0) await sleep(drainDelay)
    this.#phase = 'draining'
    // A client that is told does not send its next request into a connection that closes.
    for (const res of this.#running) if (!res.headersSent) res.setHeader('connection', 'close')
    await this.#quiet(drain)
    await closeServer(this.#server)
    await this.#quiet(settleMs)
  }

  /** Resolves when nothing runs, or after so long. */
  async #quiet(ms: number): Promise<void> {
    if (this.#running.size === 0) return
    const quiet = Promise.withResolvers<void>()
    this.#waiting.push(quiet.resolve)
    const timer = setTimeout(quiet.resolve, ms)
    await quiet.promise
    clearTimeout(timer)
  }

  /** Answers a request. */
  route(req: IncomingMessage, res: ServerResponse): void {
    if (this.#phase === 'draining') {
      refuse(res, draining())
      return
    }
    if (this.#phase === 'leaving') res.setHeader('connection', 'close')
    const generation = this.#parts.generation()
    const url = req.url ?? '/'
    const end = url.indexOf('?')
    const path = end === -1 ? url : url.slice(0, end)
    const wire = req.method === 'POST' ? generation.wires.find(path) : undefined
    const run: Promise<unknown> = wire
      ? new HttpExchange(this.#parts, req, res, wire, generation).run()
      : this.#parts.management(req, res)
    this.#running.add(res)
    const ended = (): void => this.#ended(res)
    run.then(ended, (error) => {
      ended()
      tellContained('a request', error)
      res.destroy()
    })
  }

  #ended(res: ServerResponse): void {
    this.#running.delete(res)
    if (this.#running.size > 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

/** A server of which no request, and nothing that is none, can end the process. */
export function serve(
  requestTimeout: number,
  answer: (req: IncomingMessage, res: ServerResponse) => void,
): Server {
  const take = contain('a request', (req: IncomingMessage, res: ServerResponse) => {
    try {
      answer(req, res)
    } catch (error) {
      res.destroy()
      throw error
    }
  })
  const server = createServer(
    {
      keepAliveTimeout: 65_000,
      requestTimeout,
      headersTimeout: Math.min(headersMs, requestTimeout),
      connectionsCheckingInterval: Math.min(lookMs, requestTimeout),
      requireHostHeader: false,
    },
    oneByOne(take),
  )
  server.on(
    'checkExpectation',
    contain('an expectation', (_, res: ServerResponse) => refuse(res, unexpected())),
  )
  server.on('clientError', contain('bytes that are no request', refuseBytes))
  return server
}

/** Ends a server and its connections. */
export function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  return closed
}

const hostless = (): GatewayError => badRequest('An HTTP/1.1 request needs a Host header.', { param: 'Host' })

const unexpected = (): GatewayError =>
  badRequest('The only supported value of Expect is 100-continue.', { status: 417, param: 'Expect' })
